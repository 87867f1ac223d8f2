import { toAborted } from '../../engine/engine-errors.ts'
import type { Acquire, Begin } from '../../law/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Outcome } from '../../law/outcomes.ts'
import { nameOfWait, toWithdrawal } from '../../law/waiting.ts'
import type { Durability } from './durability.ts'
import { toStorageError } from './storage-errors.ts'
import type { LockTable } from './lock-table.ts'
import { OpenCall } from './open-call.ts'
import { Roster } from './roster.ts'
import type { WaiterRecord } from './waiter-record.ts'

export interface OpenCallsOptions {
  readonly nowMs: () => number
  /** Told how many calls are open, whenever that changes. */
  readonly onCount: (count: number) => void
  /** Told that an abort changed the table: others may have been granted what was given up. */
  readonly onAborted: () => void
  /** Told of what was thrown while an abort was decided on. */
  readonly onDefect: (error: unknown) => void
}

/** The calls that are held open while their requests wait: answered when the law settles them. */
export class OpenCalls {
  readonly #table: LockTable
  readonly #durability: Durability
  readonly #options: OpenCallsOptions
  readonly #open = new Roster<OpenCall>()

  constructor(table: LockTable, durability: Durability, options: OpenCallsOptions) {
    this.#table = table
    this.#durability = durability
    this.#options = options
  }

  open(command: Acquire | Begin, signal: AbortSignal | undefined): Promise<Outcome> {
    return new Promise((resolve) => {
      const call = new OpenCall(command, this.#dueAtMs(command), resolve)
      const waiter = this.#waiterOf(command)
      if (waiter === undefined) return
      waiter.calls = waiter.calls === undefined ? call : [...callsOf(waiter), call]
      this.#open.add(call)
      this.#table.heap.update(call)
      this.#options.onCount(this.#open.size)
      if (signal !== undefined) this.#listen(call, signal)
    })
  }

  /** A waiting `begin` is answered `queued` after its time; the law ends an `acquire` by itself. */
  #dueAtMs(command: Acquire | Begin): number {
    return command.kind === 'begin'
      ? this.#options.nowMs() + (command.waitMs ?? 0)
      : Number.POSITIVE_INFINITY
  }

  #waiterOf(command: Acquire | Begin): WaiterRecord | undefined {
    if (command.kind === 'acquire') {
      const state = this.#table.locks.get(command.key)
      return state?.waiter(command.owner, command.requestId)
    }
    const state = this.#table.resources.get(command.resource)
    return state?.waitersOf(ownerOf(command))[0]
  }

  #listen(call: OpenCall, signal: AbortSignal): void {
    const onAbort = (): void => this.#abort(call, signal)
    signal.addEventListener('abort', onAbort, { once: true })
    call.unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  /** Told by the table that the call's waiter left, with the answer; delivered when it is durable. */
  settle(call: OpenCall, answer: Outcome): void {
    call.isSettled = true
    this.#table.heap.remove(call)
    if (this.#durability.isSettled) {
      this.#deliver(call, answer)
      return
    }
    this.#durability.after(
      () => this.#deliver(call, answer),
      (error) => this.#end(call, () => call.reject(toStorageError(error))),
    )
  }

  #deliver(call: OpenCall, answer: Outcome): void {
    if (call.isAborted) return
    this.#close(call)
    call.resolve(answer)
  }

  /** A `begin` has waited as long as it wanted: it keeps its place, and its call is answered. */
  answerDue(call: OpenCall, nowMs: number): void {
    const waiter = this.#waiterOf(call.command)
    if (call.isSettled || waiter === undefined) return
    const { state, owner, requestId } = waiter
    const others = callsOf(waiter).filter((one) => one !== call)
    waiter.calls = others
    if (others.length === 0) this.#table.decide(state, { kind: 'hang-up', owner, requestId }, nowMs)
    this.settle(call, { kind: 'queued', position: state.position(waiter) })
  }

  /**
   * The caller gives up. Its place in the queue goes, or the grant that was made and not yet delivered;
   * unless a newer call for the same request has taken over the wait.
   */
  #abort(call: OpenCall, signal: AbortSignal): void {
    if (call.isOver) return
    const { command } = call
    const waiter = this.#waiterOf(command)
    const all = waiter === undefined ? this.#settledAlike(command) : callsOf(waiter)
    const others = all.filter((one) => one !== call)
    if (waiter !== undefined) waiter.calls = others
    const error = toAborted(command, signal)
    this.#table.heap.remove(call)
    call.unlisten?.()
    call.isAborted = true
    if (others.length === 0) this.#withdraw(command)
    this.#options.onAborted()
    this.#durability.after(
      () => this.#end(call, () => call.reject(error)),
      (cause) => this.#end(call, () => call.reject(toStorageError(cause))),
    )
  }

  /** The calls that are about to get the answer of this request, which has left the queue. */
  #settledAlike(command: Acquire | Begin): OpenCall[] {
    const name = nameOfWait(command)
    return [...this.#open].filter((one) => !one.isAborted && nameOfWait(one.command) === name)
  }

  #withdraw(command: Acquire | Begin): void {
    const table = this.#table
    const state =
      command.kind === 'acquire' ? table.lock(command.key) : table.resource(command.resource)
    try {
      table.decide(state, toWithdrawal(command), this.#options.nowMs())
    } catch (error) {
      // Thrown on, it would end the process: an abort has nobody to be thrown to.
      this.#options.onDefect(error)
    }
  }

  #end(call: OpenCall, deliver: () => void): void {
    this.#close(call)
    deliver()
  }

  #close(call: OpenCall): void {
    this.#open.delete(call)
    this.#options.onCount(this.#open.size)
  }

  /** End every wait. A call whose answer is on its way to the disk still gets it: it may be a grant. */
  rejectAll(error: Error): void {
    for (const call of [...this.#open]) {
      call.unlisten?.()
      if (call.isSettled) continue
      this.#table.heap.remove(call)
      this.#end(call, () => call.reject(error))
    }
  }
}

function callsOf({ calls }: WaiterRecord): readonly OpenCall[] {
  if (calls === undefined) return []
  return calls instanceof OpenCall ? [calls] : calls
}
