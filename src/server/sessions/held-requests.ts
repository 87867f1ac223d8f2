import type { LockEngine } from '../../engine/engine.ts'
import type { Acquire, Begin } from '../../law/model/commands.ts'
import { nameOfWait } from '../../engine/waits/waiting-command.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import { HeldCall } from './held-call.ts'

export interface AskOptions {
  /** The engine as the asking principal may use it. */
  readonly engine: LockEngine
  readonly command: Acquire | Begin
  /** Whose requests these names belong to: two principals may use the same. */
  readonly scope: string | undefined
  /** Whether the client gave the request an id, and so may come back for it after its connection broke. */
  readonly isNamed: boolean
}

/**
 * Requests that are held open while they wait. A connection that breaks takes its request with it: at
 * once if the client cannot name it, else after the grace, unless it is asked for again by then. A
 * request that is asked for again belongs to the newer connection; what becomes of the older one means
 * nothing any more.
 */
export class HeldRequests {
  readonly #setTimer: (onOver: () => void) => { cancel(): void }
  readonly #latest = new Map<string, HeldCall>()

  /** `setTimer` runs something when the grace of a broken connection has passed. */
  constructor(setTimer: (onOver: () => void) => { cancel(): void }) {
    this.#setTimer = setTimer
  }

  /** How many are open or may be come back for. */
  get size(): number {
    return this.#latest.size
  }

  /** Asks the engine. The newest asking of a request is the one that counts. */
  ask(options: AskOptions): Outcome | Promise<Outcome> {
    if (this.#latest.size > 0) this.#latest.get(nameOf(options))?.supersede()
    return options.engine.apply(options.command)
  }

  /** From now on the request hangs on its connection. */
  hold(options: AskOptions): HeldCall {
    const name = nameOf(options)
    const call = new HeldCall(options, {
      setTimer: this.#setTimer,
      onOver: () => {
        if (this.#latest.get(name) === call) this.#latest.delete(name)
      },
    })
    this.#latest.set(name, call)
    return call
  }

  /** A client whose connection broke asks without waiting: it is there, and its grace begins anew. */
  touch(command: Acquire | Begin, scope: string | undefined): void {
    if (this.#latest.size > 0) this.#latest.get(nameOf({ command, scope }))?.touch()
  }

  /** The server stops: everybody is told to come back, and nobody is cancelled because of it. */
  close(): void {
    for (const call of [...this.#latest.values()]) call.dismiss()
    this.#latest.clear()
  }
}

/** The name of a request among those of all principals. */
export function nameOf({ command, scope = '' }: Pick<AskOptions, 'command' | 'scope'>): string {
  return `${scope}\n${nameOfWait(command)}`
}
