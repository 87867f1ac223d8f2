import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createError, isLockError } from '../../../src/engine/errors/errors.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { Command } from '../../../src/law/model/commands.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import { createLocks } from '../../../src/locks/create-locks.ts'
import type { LockHandle } from '../../../src/locks/lease/lock-handle.ts'
import type { Locks } from '../../../src/locks/locks.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { UnreliableEngine } from '../unreliable-engine.ts'

/**
 * Every command and every answer is delayed, and fast-check decides in which order they arrive, which
 * answers are lost and which requests. In every order, a writer is alone inside, tokens
 * grow, nothing is left behind when everyone has gone, and no error surprises.
 */
interface Step {
  readonly mode: 'read' | 'write'
  readonly aborts: boolean
  readonly change: 'none' | 'upgrade' | 'downgrade' | 'renew'
  readonly releases: 1 | 2
}

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  mode: fc.constantFrom('read', 'write'),
  aborts: fc.boolean(),
  change: fc.constantFrom('none', 'upgrade', 'downgrade', 'renew'),
  releases: fc.constantFrom(1, 2),
})

const EXPECTED_CODES = [
  'LOCK_ABORTED',
  'LOCK_UPGRADE_CONFLICT',
  'LOCK_ENGINE_UNAVAILABLE',
  'LOCK_LOST',
]

/** Who believes to be inside, and the tokens in the order in which writers came. */
class Room {
  readonly #inside = new Set<LockHandle>()
  #lastToken = 0

  enter(lock: LockHandle): void {
    this.#inside.add(lock)
    this.check()
  }

  check(): void {
    const inside = [...this.#inside].filter(({ isHeld }) => isHeld)
    const modes = inside.map(({ mode }) => mode)
    if (modes.includes('write')) expect(modes).toHaveLength(1)
    for (const { mode, token } of inside) {
      if (mode !== 'write') continue
      expect(token).toBeGreaterThanOrEqual(this.#lastToken)
      this.#lastToken = token
    }
  }

  leave(lock: LockHandle): void {
    this.#inside.delete(lock)
  }
}

interface Surroundings {
  readonly locks: Locks
  readonly room: Room
  readonly pause: () => Promise<void>
}

async function takeStep(step: Step, { locks, room, pause }: Surroundings): Promise<void> {
  const controller = new AbortController()
  if (step.aborts) void pause().then(() => controller.abort())
  const lock = await locks.acquire('key', { ttl: '1m', mode: step.mode, signal: controller.signal })
  room.enter(lock)
  await pause()
  try {
    if (step.change === 'upgrade') await lock.upgrade({ signal: controller.signal })
    if (step.change === 'downgrade') await lock.downgrade()
    if (step.change === 'renew') await lock.renew()
  } catch (error) {
    if (!isExpected(error)) throw error
  }
  room.check()
  await pause()
  room.leave(lock)
  const releases = Array.from({ length: step.releases }, () => lock.release())
  await Promise.all(releases)
}

function isExpected(error: unknown): boolean {
  return isLockError(error) && EXPECTED_CODES.includes(error.code)
}

async function runClient(steps: readonly Step[], around: Surroundings): Promise<void> {
  for (const step of steps) {
    try {
      await takeStep(step, around)
    } catch (error) {
      if (!isExpected(error)) throw error
    }
  }
}

function delayEverything(
  engine: UnreliableEngine,
  scheduler: fc.Scheduler,
  losses: readonly ('none' | 'request' | 'answer')[],
): void {
  let count = 0
  const onTheWay = async (command: Command, pass: () => Promise<Outcome>): Promise<Outcome> => {
    const loss = losses[count++ % Math.max(1, losses.length)] ?? 'none'
    const isLost = loss !== 'none' && count < 40
    await scheduler.schedule(Promise.resolve(), `send ${command.kind}`)
    const answer = isLost && loss === 'request' ? undefined : await pass()
    await scheduler.schedule(Promise.resolve(), `answer ${command.kind}`)
    if (answer !== undefined && !isLost) return answer
    throw createError('LOCK_ENGINE_UNAVAILABLE', 'lost on the way', { applied: 'maybe' })
  }
  for (const kind of ['acquire', 'release', 'renew', 'cancel'] as const) engine.fail(kind, onTheWay)
}

/** Delivers what is on its way in the order that the scheduler chooses; time moves when nothing is. */
async function drive(
  scheduler: fc.Scheduler,
  clock: VirtualClock,
  work: Promise<unknown>,
): Promise<void> {
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  work.then(end, end)
  for (let steps = 0; !isOver; steps += 1) {
    if (steps > 20_000) throw new Error('a caller waits for ever')
    if (scheduler.count() > 0) await scheduler.waitOne()
    else await clock.advance(100)
  }
  await work
}

describe('acquire, change, abort and release in every order', () => {
  it('never lets two in, never goes back, leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.array(stepArbitrary, { minLength: 1, maxLength: 3 }), {
          minLength: 2,
          maxLength: 4,
        }),
        fc.array(fc.constantFrom('none', 'none', 'none', 'request', 'answer'), { maxLength: 20 }),
        async (scheduler, clients, losses) => {
          const clock = new VirtualClock()
          const engine = new UnreliableEngine(openMemoryEngine({ clock }))
          delayEverything(engine, scheduler, losses)
          const room = new Room()
          const locks = createLocks(engine, { clock, random: () => 0.5 })
          const pause = async (): Promise<void> => scheduler.schedule(Promise.resolve(), 'pause')
          const runs = clients.map((steps) => runClient(steps, { locks, room, pause }))
          await drive(scheduler, clock, Promise.all(runs))
          while (scheduler.count() > 0) await scheduler.waitOne()
          engine.heal()
          // What could not be called off ends with its lease.
          await clock.advance(60_000)
          expect(await locks.inspect('key')).toMatchObject({ holders: [], queueLength: 0 })
          await engine.close()
        },
      ),
      { numRuns: process.env['HOLDFAST_TEST_DOSE'] === 'long' ? 5_000 : 150 },
    )
  })
})
