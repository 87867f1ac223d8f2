import type { LockEngine } from '../engine/engine.ts'
import { createError } from '../engine/errors/errors.ts'

/** An engine, and how to give it back. */
export interface OpenedEngine {
  readonly engine: LockEngine
  readonly close: () => Promise<void>
  /** What takes something away from what it promises, in words for an operator. */
  readonly warnings?: readonly string[] | undefined
}

export interface SharedEngineOptions {
  readonly open: () => LockEngine
  /** What it is opened with, as text: every user has to give the same. */
  readonly fingerprint: string
}

interface Entry {
  readonly engine: LockEngine
  readonly fingerprint: string
  users: number
}

/** Engines that several parts of one process share by name; the last one to leave closes them. */
export class SharedEngines {
  readonly #entries = new Map<string, Entry>()

  open(name: string, { open, fingerprint }: SharedEngineOptions): OpenedEngine {
    const entry = this.#entries.get(name) ?? { engine: open(), fingerprint, users: 0 }
    if (entry.fingerprint !== fingerprint) {
      throw createError(
        'LOCK_INVALID_ARGUMENT',
        `"${name}" is already open in this process with other options`,
      )
    }
    this.#entries.set(name, entry)
    entry.users += 1
    return { engine: entry.engine, close: () => this.#leave(name, entry) }
  }

  async #leave(name: string, entry: Entry): Promise<void> {
    entry.users -= 1
    if (entry.users > 0) return
    this.#entries.delete(name)
    await entry.engine.close()
  }
}
