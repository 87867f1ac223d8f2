import type { EngineSession, SessionLoss, SessionLossListener } from '../../engine/engine.ts'
import type { Lost, Welcome } from '../../wire/session/session-message.ts'
import type { HeartbeatThread } from './heartbeat-thread.ts'
import { HEARTBEATS_PER_LEASE_MIN } from './session-limits.ts'

/** The session as the rest of this process sees it: how long it can be relied on, and what was lost in it. */
export class SessionLiveness implements EngineSession {
  readonly id: string
  readonly heartbeatMs: number
  readonly #thread: HeartbeatThread
  readonly #hasThread: boolean
  readonly #listeners = new Set<SessionLossListener>()
  #losses = 0

  constructor({ session, heartbeatMs }: Welcome, thread: HeartbeatThread, hasThread: boolean) {
    this.id = session
    this.heartbeatMs = heartbeatMs
    this.#thread = thread
    this.#hasThread = hasThread
  }

  get ttlMsMin(): number {
    return this.heartbeatMs * HEARTBEATS_PER_LEASE_MIN
  }

  get confirmedAtMs(): number {
    return this.#thread.confirmedAtMs
  }

  useThread(): void {
    if (this.#hasThread) this.#thread.start()
  }

  onLoss(listener: SessionLossListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Connected, for the first time or again. What was lost in between was not told. */
  onWelcome({ losses }: Welcome): void {
    this.#setLosses(losses)
    this.#tell(UNKNOWN)
  }

  /** A heartbeat on the connection that losses are told on, so every loss before it was. */
  onHeard(sentAtMs: number): void {
    this.#thread.confirm(sentAtMs)
  }

  /** A grant that was read just before has to reach its caller first: it may be what was lost. */
  onLost(lost: Lost): void {
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#tell(toLoss(lost))
        this.#setLosses(this.#losses + 1)
      }),
    )
  }

  #setLosses(losses: number): void {
    this.#losses = losses
    this.#thread.setLosses(losses)
  }

  #tell(loss: SessionLoss): void {
    for (const listener of this.#listeners) listener(loss)
  }
}

function toLoss({ namespace, key, owner, token, end }: Lost): SessionLoss {
  if (namespace === undefined || key === undefined || owner === undefined) return UNKNOWN
  if (token === undefined || end === undefined) return UNKNOWN
  return { kind: 'hold', namespace, key, owner, token, end }
}

const UNKNOWN: SessionLoss = Object.freeze({ kind: 'unknown' })
