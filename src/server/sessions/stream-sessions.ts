import type { LockEngine } from '../../engine/engine.ts'
import { GRACE_MS_MAX } from '../../engine/validation/limits.ts'
import type { Clock, Timer } from '../../time/clock.ts'

export interface StreamSessionsOptions {
  readonly clock: Clock
  /** How long all streams of a session may be gone before it ends. */
  readonly graceMs: number
}

export interface StreamSessionRequest {
  /** The engine as the listening principal may use it. */
  readonly engine: LockEngine
  /** Whose session names these are: two principals may use the same. */
  readonly scope: string | undefined
  readonly session: string
  /** Told when the session has ended although its streams are open: by a spoken good-bye, or in a crash. */
  readonly onEnded: () => void
}

/** While a stream is open, a server that is busy for a while must not be taken for a client that left. */
const OPEN_GRACE_FACTOR = 4

/**
 * Sessions of clients that speak only HTTP: such a session lives while a stream that names it is open, and
 * its grace runs from the close of the last one. Nothing is received on such a stream, so its holds keep
 * their own leases: a paused client cannot be told from a quiet one.
 */
export class StreamSessions {
  readonly #options: StreamSessionsOptions
  readonly #open = new Map<string, StreamSession>()

  constructor(options: StreamSessionsOptions) {
    this.#options = options
  }

  /** Resolves when the session stands; the returned function says that this stream is over. */
  async open(request: StreamSessionRequest): Promise<() => void> {
    const name = `${request.scope ?? ''}\n${request.session}`
    const session = this.#open.get(name) ?? new StreamSession(this.#options, request)
    this.#open.set(name, session)
    const leave = session.join(request.onEnded)
    const close = (): void => {
      if (leave() && this.#open.get(name) === session) this.#open.delete(name)
    }
    try {
      await session.opened()
    } catch (error) {
      close()
      throw error
    }
    return close
  }

  /** The server stops. Whoever comes back in time to another one loses nothing. */
  close(): void {
    for (const session of this.#open.values()) session.stop()
    this.#open.clear()
  }
}

class StreamSession {
  readonly #options: StreamSessionsOptions
  readonly #request: StreamSessionRequest
  readonly #listeners = new Set<() => void>()
  #timer: Timer | undefined

  constructor(options: StreamSessionsOptions, request: StreamSessionRequest) {
    this.#options = options
    this.#request = request
  }

  /** Returns how to leave, which says whether this was the last stream. */
  join(onEnded: () => void): () => boolean {
    const listener = (): void => onEnded()
    this.#listeners.add(listener)
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return false
      this.stop()
      // From now on the grace runs. If this cannot be said, the longer one of an open stream does.
      this.#say(this.#options.graceMs).catch(() => {})
      return true
    }
  }

  async opened(): Promise<void> {
    await this.#say(this.#graceWhileOpenMs)
    if (this.#listeners.size > 0 && this.#timer === undefined) this.#beat()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  get #graceWhileOpenMs(): number {
    return Math.min(GRACE_MS_MAX, this.#options.graceMs * OPEN_GRACE_FACTOR)
  }

  async #say(graceMs: number): Promise<void> {
    const { engine, session } = this.#request
    await engine.apply({ kind: 'open-session', session, graceMs, keepsLeases: false })
  }

  #beat(): void {
    const { clock, graceMs } = this.#options
    this.#timer = clock.setTimer(graceMs, () => {
      this.#beat()
      void this.#touch()
    })
  }

  async #touch(): Promise<void> {
    const { engine, session } = this.#request
    try {
      const outcome = await engine.apply({ kind: 'touch-session', session })
      if (outcome.kind !== 'refused') return
      this.stop()
      for (const onEnded of [...this.#listeners]) onEnded()
    } catch {
      // The engine does not answer at the moment; the next beat tries again.
    }
  }
}
