import type { LockEngine } from '../../engine/engine.ts'
import { TOUCHES_MAX } from './connection-limits.ts'

export interface LawSessionParts {
  readonly engine: LockEngine
  readonly session: string
  readonly graceMs: number
  /** Told that the session had ended in the engine, with everything that was held in it. */
  readonly onOver: () => void
  /** Told why a sign of life did not reach the engine. */
  readonly onFailure: (error: unknown) => void
}

/**
 * - `counts`: the engine knows of it, or nothing depends on it.
 * - `over`: it came too late.
 * - `unheard`: the engine has not confirmed it.
 */
export type Touch = 'counts' | 'over' | 'unheard'

/**
 * A session as the engine knows it. It is opened when something is first asked for in it: a client that
 * holds nothing in its session costs the engine nothing.
 */
export class LawSession {
  readonly #parts: LawSessionParts
  #isOpen = false
  /** Runs while the engine is opening or closing it; commands in its name wait for the end of that. */
  #changing: Promise<void> | undefined
  #touches = 0

  constructor(parts: LawSessionParts) {
    this.#parts = parts
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Resolves when the engine is neither opening nor closing it, and whoever is told of its end was. */
  async settled(): Promise<void> {
    while (this.#changing !== undefined) await this.#changing
  }

  /** To be awaited before a command in the session's name, unless it is open. */
  async ready(): Promise<void> {
    await this.settled()
    if (!this.#isOpen) await this.#change(this.#open())
  }

  /** The client came to this server from another one, or to one that was restarted. */
  async adopt(): Promise<boolean> {
    this.#isOpen = true
    const { engine, session } = this.#parts
    const outcome = await engine.apply({ kind: 'touch-session', session })
    this.#isOpen = outcome.kind === 'session-touched'
    return this.#isOpen
  }

  /** Something was received from the client. Resolves to what that is worth. */
  async touch(): Promise<Touch> {
    if (!this.#isOpen) return this.#changing === undefined ? 'counts' : 'unheard'
    if (this.#touches >= TOUCHES_MAX) return 'unheard'
    const { engine, session } = this.#parts
    this.#touches += 1
    try {
      const outcome = await engine.apply({ kind: 'touch-session', session })
      if (outcome.kind !== 'refused') return 'counts'
      this.end()
      return 'over'
    } catch (error) {
      // The engine is out of reach: the client must not rely on having been heard.
      this.#parts.onFailure(error)
      return 'unheard'
    } finally {
      this.#touches -= 1
    }
  }

  /**
   * The engine says that it has ended. Closing it once more makes sure that nothing is held in it by the
   * time the client is told so: a late word about an earlier life of it must not end a later one halfway.
   */
  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    void this.#change(this.close().then(this.#parts.onOver))
  }

  /** Never rejects: an engine that cannot be reached ends it by its silence. */
  async close(): Promise<void> {
    this.#isOpen = false
    const { engine, session } = this.#parts
    try {
      await engine.apply({ kind: 'close-session', session })
    } catch {
      // The engine ends a session that it does not hear of.
    }
  }

  /** A failure is left to the command, which is then refused or fails by itself. */
  async #open(): Promise<void> {
    const { engine, session, graceMs } = this.#parts
    try {
      await engine.apply({ kind: 'open-session', session, graceMs })
      this.#isOpen = true
    } catch {
      // As above.
    }
  }

  async #change(change: Promise<void>): Promise<void> {
    const changing = change.finally(() => {
      if (this.#changing === changing) this.#changing = undefined
    })
    this.#changing = changing
    await changing
  }
}
