import { ownerOf } from '../../law/operations.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { WaitingCommand } from '../../law/waiting.ts'
import type { KeyName } from './sql-dialect.ts'

/** A call of `apply` that is held open. It is answered exactly once. */
export class OpenCall {
  isOver = false
  /** Its caller has given up: whatever it is granted from now on goes back. */
  isAborted = false
  /** Resolves when its first asking was answered. */
  asking: Promise<void> = Promise.resolve()
  readonly #resolve: (outcome: Outcome) => void
  readonly #reject: (error: unknown) => void
  readonly #onOver: (() => void)[] = []

  constructor(resolve: (outcome: Outcome) => void, reject: (error: unknown) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  listen(signal: AbortSignal, onAbort: () => void): void {
    signal.addEventListener('abort', onAbort, { once: true })
    this.onOver(() => signal.removeEventListener('abort', onAbort))
  }

  onOver(callback: () => void): void {
    this.#onOver.push(callback)
  }

  resolve(outcome: Outcome): void {
    if (!this.isAborted) this.resolveAnyway(outcome)
  }

  /** Even if its caller has given up. */
  resolveAnyway(outcome: Outcome): void {
    if (this.#end()) this.#resolve(outcome)
  }

  reject(error: unknown): void {
    if (this.#end()) this.#reject(error)
  }

  #end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    for (const callback of this.#onOver) callback()
    return true
  }
}

/** One request that waits, and every call that is held open for it. */
export class OpenWait {
  readonly name: string
  readonly command: WaitingCommand
  readonly keyName: KeyName
  readonly owner: string
  readonly calls: Set<OpenCall> = new Set()
  /** It stood in the queue once; until then its first asking is still under way. */
  wasQueued = false
  /** Resolves when a grant that nobody wanted any more has been given back. */
  undoing: Promise<void> = Promise.resolve()

  constructor(name: string, command: WaitingCommand) {
    this.name = name
    this.command = command
    const isLock = command.kind === 'acquire'
    this.keyName = isLock
      ? { space: 'lock', name: command.key }
      : { space: 'operation', name: command.resource }
    this.owner = isLock ? command.owner : ownerOf(command)
  }

  get isAwaited(): boolean {
    for (const call of this.calls) if (!call.isAborted && !call.isOver) return true
    return false
  }

  undo(giveBack: () => Promise<void>): void {
    this.undoing = giveBack()
    // Whoever aborted waits for it, and hears of a failure; if nobody does, the lease ends the hold.
    this.undoing.catch(() => {})
  }
}
