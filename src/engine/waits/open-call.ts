import type { Outcome } from '../../law/model/outcomes.ts'
import type { Timer } from '../../time/clock.ts'
import type { WaitingCommand } from './waiting-command.ts'

/** A call of `apply` that is held open while its request waits. It is answered exactly once. */
export class OpenCall {
  readonly command: WaitingCommand
  isOver = false
  /** Ends the listening for an abort, where the caller may abort. */
  unlisten: (() => void) | undefined = undefined
  /** Set for a `begin`, which is answered `queued` after its time. */
  timer: Timer | undefined = undefined
  /** The only way to the promise: a second one for errors would be kept as long as the wait. */
  readonly #resolve: (answer: Outcome | Promise<never>) => void

  constructor(command: WaitingCommand, resolve: (answer: Outcome | Promise<never>) => void) {
    this.command = command
    this.#resolve = resolve
  }

  resolve(outcome: Outcome): void {
    if (this.#end()) this.#resolve(outcome)
  }

  reject(error: unknown): void {
    if (this.#end()) this.#resolve(Promise.reject(error))
  }

  #end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    this.unlisten?.()
    this.timer?.cancel()
    return true
  }
}
