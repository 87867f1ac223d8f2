import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { HoldQuota } from '../../../src/server/access/hold-quota.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { createLateEngine, type LateEngine } from './late-engine.ts'

const RUNS = 200

const key = fc.constantFrom('a', 'b')
const owner = fc.constantFrom('n', 'm')
const mode = fc.constantFrom('read' as const, 'write' as const)

/** Through this server, or through another of which this one only hears. */
const isHere = fc.boolean()

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('acquire'), key, owner, mode, isHere }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('release'), key, owner, mode, isHere }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('begin'), key, owner, mode, isHere }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('finish'), key, owner, mode, isHere }) },
)

const force = fc.record({ kind: fc.constant('force'), key, owner, mode, isHere })

/** Something that happens to events, or to the book while others go on. */
const aside = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tell'), count: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('recount'), count: fc.constant(0) }) },
)

interface Step {
  readonly kind: string
  readonly key?: string
  readonly owner?: string
  readonly mode?: 'read' | 'write'
  readonly isHere?: boolean
  readonly count?: number
}

class Story {
  readonly engine: LateEngine
  readonly #book: HoldQuota
  #requests = 0

  private constructor(engine: LateEngine, book: HoldQuota) {
    this.engine = engine
    this.#book = book
  }

  static async begin(): Promise<Story> {
    const clock = new VirtualClock()
    const engine = createLateEngine(openMemoryEngine({ clock }))
    const nowMs = (): number => clock.nowMs()
    const book = new HoldQuota({ engine, names: undefined, clock, nowMs })
    await engine.watch({}, (event) => book.hear(event))
    await book.open()
    return new Story(engine, book)
  }

  async play({ kind, count, key = '', owner = '', mode, isHere = true }: Step): Promise<void> {
    const through = isHere ? this.#book.follow(this.engine) : this.engine
    this.#requests += 1
    const requestId = String(this.#requests)
    const operation = { resource: key, node: owner, type: 'pull', requestId }
    if (kind === 'tell') this.engine.tell(count)
    else if (kind === 'recount') void this.#book.recount(undefined)
    else if (kind === 'begin') await through.apply({ ...operation, kind })
    else if (kind === 'finish') await through.apply({ ...operation, kind, success: false })
    else if (kind === 'acquire') await through.apply({ kind, key, owner, mode, requestId })
    else if (kind === 'release') await through.apply({ kind, key, owner })
    else await through.apply({ kind: 'force', key, owner })
  }

  /** The book knows the number of holds, no more and no fewer. */
  async check(): Promise<void> {
    const { holds } = await this.engine.read({ kind: 'stats' })
    const hasRoom = [holds, holds + 1].map((limit) => this.#book.hasRoom(undefined, limit))
    expect(hasRoom).toEqual([false, true])
  }
}

describe('the book of holds', () => {
  it('is right at any moment about what goes through this server', async () => {
    const steps = fc.array(fc.oneof(step, aside), { maxLength: 40, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, async (played) => {
        const story = await Story.begin()
        for (const one of played) {
          // Nobody waits: who is granted a lock without being there is heard of only later.
          const alone = one.kind === 'begin' || one.kind === 'finish' ? { owner: 'n' } : {}
          await story.play({ ...one, ...alone, isHere: true })
          await story.check()
        }
        await story.engine.close()
      }),
      { numRuns: RUNS },
    )
  })

  it('is right about all servers in the end, in whatever order answers and events come', async () => {
    const steps = fc.array(fc.oneof(step, step, force, aside), { maxLength: 40, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, async (played) => {
        const story = await Story.begin()
        for (const one of played) await story.play(one)
        story.engine.tell()
        await new Promise((resolve) => setImmediate(resolve))
        await story.check()
        await story.engine.close()
      }),
      { numRuns: RUNS },
    )
  })
})
