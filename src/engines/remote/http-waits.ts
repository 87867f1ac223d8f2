import type { LockError } from '../../engine/errors.ts'
import type { Acquire, Begin, Command } from '../../law/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/outcomes.ts'
import { nameOfWait, toWithdrawal } from '../../law/waiting.ts'
import type { HttpLink, OpenCall } from './http-link.ts'
import { outcomeOf } from './http-outcome.ts'
import { orderKeyOf, toRequest } from './http-requests.ts'
import type { KeyOrder } from './key-order.ts'
import { askStanding } from './undo-grant.ts'
import { withWaitLeft } from './wait-left.ts'
import { toAborted, toClosed } from '../../engine/engine-errors.ts'

export interface HttpWaitsOptions {
  readonly link: HttpLink
  readonly order: KeyOrder
  /** Sends a command that does not wait. */
  readonly send: <C extends Command>(command: C) => Promise<OutcomeOf<C>>
  /** Measures how long a wait has gone on. */
  readonly nowMs: () => number
}

/** One call of `apply` that waits. */
interface Wait {
  readonly command: Acquire | Begin
  /** Set once it was sent. */
  call: OpenCall | undefined
  /** Set when its caller gave up before it was sent. */
  dropped: LockError | undefined
  isGivenUp: boolean
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

/**
 * Requests that the server holds open. They survive broken connections, because asking again with the
 * same request id is the same request; and they are given up by saying so, never by hanging up.
 */
export class HttpWaits {
  readonly #options: HttpWaitsOptions
  readonly #open = new Set<Wait>()

  constructor(options: HttpWaitsOptions) {
    this.#options = options
  }

  ask(command: Acquire | Begin, signal: AbortSignal | undefined): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (signal !== undefined) void this.#giveUp(wait, toAborted(command, signal))
      }
      const end = (): void => {
        this.#open.delete(wait)
        signal?.removeEventListener('abort', onAbort)
      }
      const wait: Wait = {
        command,
        call: undefined,
        dropped: undefined,
        isGivenUp: false,
        resolve: (outcome) => {
          end()
          resolve(outcome)
        },
        reject: (error) => {
          end()
          reject(error)
        },
      }
      this.#open.add(wait)
      signal?.addEventListener('abort', onAbort)
      this.#run(wait).then(
        (outcome) => wait.isGivenUp || wait.resolve(outcome),
        (error) => wait.isGivenUp || wait.reject(error),
      )
    })
  }

  /** Every wait is given up, and its caller told that the engine is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((wait) => this.#giveUp(wait, toClosed())))
  }

  #run(wait: Wait): Promise<Outcome> {
    const { command } = wait
    const { link, order, nowMs } = this.#options
    const startedAtMs = nowMs()
    const body = (): unknown => toRequest(withWaitLeft(command, nowMs() - startedAtMs)).body?.()
    return order.run(orderKeyOf(command) ?? '', (pass) => {
      if (wait.dropped !== undefined) return Promise.reject(wait.dropped)
      wait.call = link.call({
        ...toRequest(command),
        body,
        headers: { prefer: 'processing' },
        isWait: true,
        onProcessing: pass,
      })
      return outcomeOf(command, wait.call)
    })
  }

  /**
   * The place in the queue goes, or the grant that was made there and not yet delivered; unless another
   * call for the same request goes on waiting for it.
   */
  async #giveUp(wait: Wait, error: LockError): Promise<void> {
    if (wait.isGivenUp) return
    wait.isGivenUp = true
    const { command, call } = wait
    if (call === undefined) {
      wait.dropped = error
      return wait.reject(error)
    }
    if (this.#isSharedWait(wait)) return wait.reject(error)
    try {
      const outcome = await this.#options.send(toWithdrawal(command))
      if (outcome.kind === 'cancelled' && !outcome.cancelled) {
        // It was settled before, and what it was told then counts.
        const settled = await this.#confirm(command, await outcomeOf(command, call))
        if (settled.kind !== 'refused' || settled.code !== 'cancelled') return wait.resolve(settled)
      }
      wait.reject(error)
    } catch (failure) {
      wait.reject(error.code === 'LOCK_ENGINE_CLOSED' ? error : failure)
    } finally {
      call.drop(error)
    }
  }

  async #confirm(command: Acquire | Begin, settled: Outcome): Promise<Outcome> {
    if (settled.kind !== 'granted') return settled
    const { send } = this.#options
    const standing = await askStanding(send, command)
    if (standing.kind === 'granted') return standing
    if (standing.kind === 'queued') await send(toWithdrawal(command))
    return { kind: 'refused', code: 'cancelled' }
  }

  /** Its request stays open at the server until that other one is answered: hanging up would end both. */
  #isSharedWait(wait: Wait): boolean {
    const name = nameOfWait(wait.command)
    return [...this.#open].some((one) => one !== wait && nameOfWait(one.command) === name)
  }
}
