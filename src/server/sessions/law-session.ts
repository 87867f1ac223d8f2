import type { LockEngine } from '../../engine/engine.ts'

export interface LawSessionParts {
  readonly engine: LockEngine
  readonly session: string
  readonly graceMs: number
  /** Told that the session had ended in the engine. */
  readonly onEnded: () => void
  /** Told why a heartbeat did not reach the engine. */
  readonly onFailure: (error: unknown) => void
}

/**
 * A session as the engine knows it. It is opened when a request first names it: a client that holds nothing
 * in its session costs the engine nothing.
 */
export class LawSession {
  readonly #parts: LawSessionParts
  #isOpen = false
  #opening: Promise<void> | undefined
  #isTouching = false

  constructor(parts: LawSessionParts) {
    this.#parts = parts
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** While it is being opened. Commands that wait for this keep their order. */
  get opening(): Promise<void> | undefined {
    return this.#opening
  }

  open(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** A failure is left to the command that needs the session: it is refused or fails by itself. */
  async #open(): Promise<void> {
    const { engine, session, graceMs } = this.#parts
    try {
      const outcome = await engine.apply({ kind: 'open-session', session, graceMs })
      this.#isOpen = outcome.kind === 'session-opened'
    } catch {
      // As above.
    }
    this.#opening = undefined
  }

  /** A client came here with a session of another server, or of this one before a restart. */
  async adopt(): Promise<void> {
    const { engine, session } = this.#parts
    const outcome = await engine.apply({ kind: 'touch-session', session })
    this.#isOpen = outcome.kind === 'session-touched'
  }

  /**
   * A heartbeat arrived. Resolves to whether it counts: every hold of the session is renewed, or there is
   * none. While an engine takes its time for one heartbeat, others do not count.
   */
  async touch(): Promise<boolean> {
    if (!this.#isOpen) return true
    if (this.#isTouching) return false
    const { engine, session, onFailure } = this.#parts
    this.#isTouching = true
    try {
      const outcome = await engine.apply({ kind: 'touch-session', session })
      if (outcome.kind === 'session-touched') return true
      this.end()
      return false
    } catch (error) {
      onFailure(error)
      return false
    } finally {
      this.#isTouching = false
    }
  }

  /** The engine says that the session has ended. */
  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#parts.onEnded()
  }

  /** Never rejects: if the engine is out of reach, the leases of the session run out. */
  async close(): Promise<void> {
    await this.#opening
    if (!this.#isOpen) return
    this.#isOpen = false
    const { engine, session } = this.#parts
    try {
      await engine.apply({ kind: 'close-session', session })
    } catch {
      // As above.
    }
  }
}
