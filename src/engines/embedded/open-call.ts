import type { Acquire, Begin } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { DueItem } from './due-heap.ts'
import type { Listed } from './roster.ts'

/** A call of `apply` that is held open while its request waits. It is answered exactly once. */
export class OpenCall implements DueItem, Listed {
  readonly command: Acquire | Begin
  /** When a `begin` is answered `queued`; an `acquire` has its deadline in the law. */
  readonly dueAtMs: number
  heapIndex = -1
  rosterIndex = -1
  /** Set when the answer is known; it is delivered as soon as it is durable. */
  isSettled = false
  /** Set when the answer was delivered; until then an abort can undo a grant. */
  isOver = false
  /** Set when the caller gave up: a grant that is on its way to it is undone and must not arrive. */
  isAborted = false
  /** Ends the listening for an abort, where there is one. */
  unlisten: (() => void) | undefined = undefined
  /** The only way to the promise: a second one for errors would be kept as long as the wait. */
  readonly #resolve: (answer: Outcome | Promise<never>) => void

  constructor(
    command: Acquire | Begin,
    dueAtMs: number,
    resolve: (answer: Outcome | Promise<never>) => void,
  ) {
    this.command = command
    this.dueAtMs = dueAtMs
    this.#resolve = resolve
  }

  resolve(outcome: Outcome): void {
    if (this.#end()) this.#resolve(outcome)
  }

  reject(error: Error): void {
    if (this.#end()) this.#resolve(Promise.reject(error))
  }

  #end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    this.unlisten?.()
    return true
  }
}
