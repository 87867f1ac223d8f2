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

/** One session, and the streams that name it. */
interface StreamSession extends Pick<StreamSessionRequest, 'engine' | 'session'> {
  /** What each stream wants to be told when the session has ended. */
  readonly listeners: Set<() => void>
  timer: Timer | undefined
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
  async open({ engine, scope, session: id, onEnded }: StreamSessionRequest): Promise<() => void> {
    const { graceMs } = this.#options
    const name = `${scope ?? ''}\n${id}`
    const session = this.#open.get(name) ?? createSession(engine, id)
    this.#open.set(name, session)
    const listener = (): void => onEnded()
    session.listeners.add(listener)
    const leave = (): void => {
      if (session.listeners.delete(listener) && session.listeners.size === 0) {
        this.#close(name, session)
      }
    }
    try {
      await say(session, Math.min(GRACE_MS_MAX, graceMs * OPEN_GRACE_FACTOR))
    } catch (error) {
      leave()
      throw error
    }
    if (session.listeners.size > 0 && session.timer === undefined) this.#beat(session)
    return leave
  }

  /** The server stops. A client that comes back in time to another one loses nothing. */
  close(): void {
    for (const session of this.#open.values()) stop(session)
    this.#open.clear()
  }

  /** From now on the grace runs. If this cannot be said, the longer one of an open stream does. */
  #close(name: string, session: StreamSession): void {
    stop(session)
    if (this.#open.get(name) === session) this.#open.delete(name)
    say(session, this.#options.graceMs).catch(() => {})
  }

  #beat(session: StreamSession): void {
    const { clock, graceMs } = this.#options
    session.timer = clock.setTimer(graceMs, () => {
      this.#beat(session)
      void touch(session)
    })
  }
}

function createSession(engine: LockEngine, session: string): StreamSession {
  return { engine, session, listeners: new Set(), timer: undefined }
}

function stop(session: StreamSession): void {
  session.timer?.cancel()
  session.timer = undefined
}

async function say({ engine, session }: StreamSession, graceMs: number): Promise<void> {
  await engine.apply({ kind: 'open-session', session, graceMs, keepsLeases: false })
}

async function touch(stream: StreamSession): Promise<void> {
  const { engine, session, listeners } = stream
  try {
    const outcome = await engine.apply({ kind: 'touch-session', session })
    if (outcome.kind !== 'refused') return
    stop(stream)
    for (const onEnded of [...listeners]) onEnded()
  } catch {
    // The engine does not answer at the moment; the next beat tries again.
  }
}
