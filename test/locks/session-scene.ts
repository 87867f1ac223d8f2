import { onTestFinished, vi } from 'vitest'
import type {
  EngineSession,
  LockEngine,
  SessionLoss,
  SessionLossListener,
} from '../../src/engine/engine.ts'
import type { Query } from '../../src/engine/queries.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { Command } from '../../src/law/commands.ts'
import { createLocks } from '../../src/locks/create-locks.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export const GRACE_MS = 5_000
export const BEAT_MS = 1_000

type Asked = Command['kind'] | Query['kind']

/** The session, with everything that was held in it; or something else. */
type Lost = 'session' | 'something'

export interface SessionScene {
  readonly clock: VirtualClock
  readonly store: LockEngine
  readonly locks: Locks
  /** The commands that the library sent. */
  readonly sent: Command[]
  readonly keepVouching: ReturnType<typeof vi.fn>
  /** Time passes while the server hears from this process, or does not. */
  pass(ms: number, isHeard: boolean): Promise<void>
  tell(loss: SessionLoss): void
  /** With the next answer to such a question comes the news that something was lost. */
  loseWithAnswer(asked: Asked, what: Lost): void
}

/** A session as an engine on the other side of a server has one, for tests to say what becomes of it. */
class TestSession implements EngineSession {
  readonly id = 's'
  readonly graceMs = GRACE_MS
  readonly heartbeatMs = BEAT_MS
  readonly keepVouching = vi.fn()
  vouchedAtMs: number
  isInDoubt = false
  readonly #store: LockEngine
  readonly #listeners = new Set<SessionLossListener>()

  constructor(store: LockEngine, nowMs: number) {
    this.#store = store
    this.vouchedAtMs = nowMs
  }

  onLoss(listener: SessionLossListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(loss: SessionLoss): void {
    for (const listener of this.#listeners) listener(loss)
  }

  async open(): Promise<void> {
    await this.#store.apply({ kind: 'open-session', session: this.id, graceMs: GRACE_MS })
  }

  async touch(sentAtMs: number): Promise<void> {
    const touched = await this.#store.apply({ kind: 'touch-session', session: this.id })
    if (touched.kind === 'session-touched') this.vouchedAtMs = sentAtMs
  }

  async lose(what: Lost): Promise<void> {
    if (what === 'session') {
      await this.#store.apply({ kind: 'close-session', session: this.id })
      await this.open()
      this.tell({ kind: 'all' })
    }
    this.isInDoubt = true
  }

  /** What is asked of a server is answered in another turn of the event loop, and by then there is no doubt. */
  async reachServer(): Promise<void> {
    if (this.isInDoubt) await new Promise((resolve) => setImmediate(resolve))
    this.isInDoubt = false
  }
}

/** Locks on an engine that has a session, as one on the other side of a server has. */
export async function openScene(): Promise<SessionScene> {
  const clock = new VirtualClock({ nowMs: 1_000 })
  const store = openMemoryEngine({ clock })
  onTestFinished(() => store.close())
  const session = new TestSession(store, clock.nowMs())
  await session.open()
  const sent: Command[] = []
  const losses: { readonly asked: Asked; readonly what: Lost }[] = []
  const loseAfter = async (asked: Asked): Promise<void> => {
    if (losses[0]?.asked === asked) await session.lose(losses.shift()?.what ?? 'session')
  }
  const engine: LockEngine = {
    capabilities: store.capabilities,
    session,
    apply: async (command, options) => {
      sent.push(command)
      await session.reachServer()
      const outcome = await store.apply(command, options)
      await loseAfter(command.kind)
      return outcome
    },
    read: async (query) => {
      await session.reachServer()
      const reply = await store.read(query)
      await loseAfter(query.kind)
      return reply
    },
    watch: (filter, listener) => store.watch(filter, listener),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  }
  return {
    clock,
    store,
    sent,
    keepVouching: session.keepVouching,
    locks: createLocks(engine, { clock, owner: 'alice' }),
    pass: async (ms, isHeard) => {
      for (let passed = 0; passed < ms; passed += BEAT_MS / 2) {
        await clock.advance(BEAT_MS / 2)
        if (isHeard) await session.touch(clock.nowMs())
      }
    },
    tell: (loss) => session.tell(loss),
    loseWithAnswer: (asked, what) => void losses.push({ asked, what }),
  }
}
