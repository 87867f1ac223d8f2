import type { Cancel, HangUp } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { Waiter } from '../../law/model/view.ts'
import type { Clock } from '../../time/clock.ts'
import { toAborted } from '../errors/engine-errors.ts'
import { OpenCall } from './open-call.ts'
import { nameOfWait, toCancel, type WaitingCommand } from './waiting-command.ts'

/** One request that waits, and every call that is held open for it. */
export interface OpenWait {
  readonly name: string
  readonly command: WaitingCommand
  /** The request has stood in the queue; until then its first asking is under way. */
  wasQueued: boolean
  /** Nearly always one. */
  calls: readonly OpenCall[]
}

/**
 * Whether the calls of a waiter are told how it left the queue. A grant to a waiter that is not connected has
 * to be asked for within the claim window; its call may be open still, while its hanging up is being stored.
 */
export function isToldOf(answer: Outcome, { connected }: Pick<Waiter, 'connected'>): boolean {
  return answer.kind !== 'granted' || connected
}

/** What is decided for a request while its call is held open. */
export type WaitStep = WaitingCommand | Cancel | HangUp

export interface OpenWaitsOptions {
  readonly clock: Clock
  /** Decides a step on the key of a request, after everything that was asked before. */
  readonly decide: (request: WaitingCommand, step: WaitStep) => Outcome | Promise<Outcome>
  /** Told how many requests wait, whenever that changes. */
  readonly onCount: (count: number) => void
}

/**
 * The one way to wait, for every engine: the calls that are held open while their requests wait.
 *
 * A call ends in one of four ways. The request is settled by a decision on its key. The time of a `begin`
 * is over, and it keeps its place. The caller aborts, and the request is cancelled. The engine closes.
 * Asking again with the same request id adds a call; all calls of a request are answered the same, and
 * only the last one that aborts cancels it.
 */
export class OpenWaits {
  readonly #options: OpenWaitsOptions
  readonly #waits = new Map<string, OpenWait>()

  constructor(options: OpenWaitsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waits.size
  }

  /** The requests that wait. */
  all(): OpenWait[] {
    return [...this.#waits.values()]
  }

  get(name: string): OpenWait | undefined {
    return this.#waits.get(name)
  }

  /** Hold a call open if its request was queued. `answer` is what the engine said to the request. */
  hold(
    command: WaitingCommand,
    signal: AbortSignal | undefined,
    answer: Outcome | Promise<Outcome>,
  ): Outcome | Promise<Outcome> {
    if (!(answer instanceof Promise) && answer.kind !== 'queued') return answer
    return new Promise((resolve) => {
      const call = new OpenCall(command, resolve)
      const wait = this.#join(call)
      if (signal !== undefined) this.#listen(wait, call, signal)
      if (!(answer instanceof Promise)) this.#onAnswer(wait, call, answer)
      else {
        answer.then(
          (outcome) => this.#onAnswer(wait, call, outcome),
          (error: unknown) => this.#onFailure(wait, call, error),
        )
      }
    })
  }

  #join(call: OpenCall): OpenWait {
    const name = nameOfWait(call.command)
    const known = this.#waits.get(name)
    if (known !== undefined) {
      known.calls = [...known.calls, call]
      return known
    }
    const wait: OpenWait = { name, command: call.command, wasQueued: false, calls: [call] }
    this.#waits.set(name, wait)
    this.#options.onCount(this.#waits.size)
    return wait
  }

  #listen(wait: OpenWait, call: OpenCall, signal: AbortSignal): void {
    const onAbort = (): void => void this.#abort(wait, call, signal)
    signal.addEventListener('abort', onAbort, { once: true })
    call.unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  #onAnswer(wait: OpenWait, call: OpenCall, outcome: Outcome): void {
    if (!wait.calls.includes(call)) return
    if (outcome.kind === 'queued') {
      wait.wasQueued = true
      this.#startTimer(wait, call)
    } else {
      call.resolve(outcome)
      this.#leave(wait, call)
    }
  }

  #onFailure(wait: OpenWait, call: OpenCall, error: unknown): void {
    if (!wait.calls.includes(call)) return
    call.reject(error)
    this.#leave(wait, call)
  }

  /** A waiting `begin` is answered `queued` after its time; the law ends an `acquire` by itself. */
  #startTimer(wait: OpenWait, call: OpenCall): void {
    const { kind, waitMs = 0 } = call.command
    if (kind !== 'begin' || waitMs === Number.POSITIVE_INFINITY) return
    call.timer = this.#options.clock.setTimer(waitMs, () => void this.#onTime(wait, call))
    call.timer.ref()
  }

  /** The last call that ends so hangs up: from then on the waiter only asks now and then. */
  async #onTime(wait: OpenWait, call: OpenCall): Promise<void> {
    const { command } = call
    const isLast = wait.calls.length === 1
    const step: WaitStep =
      isLast && command.kind === 'begin'
        ? { kind: 'hang-up', owner: ownerOf(command) }
        : { ...command, waitMs: 0 }
    try {
      const outcome = await this.#options.decide(command, step)
      // A request that was settled meanwhile is no longer in the queue, and is told so by that.
      if (outcome.kind !== 'queued' || !wait.calls.includes(call)) return
      call.resolve(outcome)
      this.#leave(wait, call)
    } catch (error) {
      this.#onFailure(wait, call, error)
    }
  }

  /**
   * A decision has settled a request. Where that is not on stable storage yet, its calls are answered
   * when `durable` resolves; until then an abort undoes it.
   */
  settle(name: string, answer: Outcome, durable?: Promise<void>): void {
    const wait = this.#waits.get(name)
    if (wait === undefined) return
    this.#forget(wait)
    const tell = (): void => {
      for (const call of wait.calls) call.resolve(answer)
    }
    if (durable === undefined) tell()
    else {
      durable.then(tell, (error: unknown) => {
        for (const call of wait.calls) call.reject(error)
      })
    }
  }

  async #abort(wait: OpenWait, call: OpenCall, signal: AbortSignal): Promise<void> {
    const { command } = call
    this.#leave(wait, call)
    let error: unknown = toAborted(command, signal)
    if (wait.calls.length === 0) {
      try {
        await this.#options.decide(command, toCancel(command))
      } catch (cause) {
        error = cause
      }
    }
    call.reject(error)
  }

  #leave(wait: OpenWait, call: OpenCall): void {
    wait.calls = wait.calls.filter((one) => one !== call)
    if (wait.calls.length === 0) this.#forget(wait)
  }

  #forget(wait: OpenWait): void {
    if (this.#waits.get(wait.name) !== wait) return
    this.#waits.delete(wait.name)
    this.#options.onCount(this.#waits.size)
  }

  /** End every wait. A call whose answer is on its way to stable storage still gets it. */
  rejectAll(error: Error): void {
    for (const wait of this.all()) {
      this.#forget(wait)
      for (const call of wait.calls) call.reject(error)
    }
  }
}
