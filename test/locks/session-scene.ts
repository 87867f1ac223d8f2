import { onTestFinished, vi } from 'vitest'
import type {
  EngineSession,
  LockEngine,
  SessionLoss,
  SessionLossListener,
} from '../../src/engine/engine.ts'
import { createError } from '../../src/engine/errors/errors.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { Command } from '../../src/law/model/commands.ts'
import { createLocks } from '../../src/locks/create-locks.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

export const GRACE_MS = 5_000
export const BEAT_MS = 1_000

export interface SessionScene {
  readonly clock: VirtualClock
  readonly store: LockEngine
  readonly locks: Locks
  /** The commands that the library sent. */
  readonly sent: Command[]
  readonly useThread: ReturnType<typeof vi.fn>
  /** Time passes while the server hears from this process, or does not. */
  pass(ms: number, isHeard: boolean): Promise<void>
  tell(loss: SessionLoss): void
  /** So many commands of this kind get no answer. */
  failNext(kind: Command['kind'], count: number): void
  /** The connection is made anew: what happened meanwhile is not known. */
  reconnect(): void
}

/** A session as an engine on the other side of a server has one, for tests to say what becomes of it. */
class TestSession implements EngineSession {
  readonly id = 's'
  readonly heartbeatMs = BEAT_MS
  readonly ttlMsMin = 3 * BEAT_MS
  readonly useThread = vi.fn()
  confirmedAtMs: number
  readonly #store: LockEngine
  readonly #listeners = new Set<SessionLossListener>()

  constructor(store: LockEngine, nowMs: number) {
    this.#store = store
    this.confirmedAtMs = nowMs
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
    if (touched.kind === 'session-touched') this.confirmedAtMs = sentAtMs
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
  const failures = new Map<Command['kind'], number>()
  const engine: LockEngine = {
    capabilities: store.capabilities,
    session,
    apply: async (command, options) => {
      sent.push(command)
      const failing = failures.get(command.kind) ?? 0
      failures.set(command.kind, failing - 1)
      if (failing > 0) {
        throw createError('LOCK_ENGINE_UNAVAILABLE', 'no answer', { applied: 'maybe' })
      }
      return store.apply(command, options)
    },
    read: (query) => store.read(query),
    watch: (filter, listener) => store.watch(filter, listener),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store.close(),
  }
  return {
    clock,
    store,
    sent,
    useThread: session.useThread,
    locks: createLocks(engine, { clock, owner: 'alice' }),
    pass: async (ms, isHeard) => {
      for (let passed = 0; passed < ms; passed += BEAT_MS / 2) {
        await clock.advance(BEAT_MS / 2)
        if (isHeard) await session.touch(clock.nowMs())
      }
    },
    tell: (loss) => session.tell(loss),
    failNext: (kind, count) => void failures.set(kind, count),
    reconnect: () => session.tell({ kind: 'unknown' }),
  }
}
