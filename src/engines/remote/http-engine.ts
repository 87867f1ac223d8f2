import type { SecureContextOptions } from 'node:tls'
import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import type { Query, ReplyOf } from '../../engine/queries.ts'
import type { Command } from '../../law/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/outcomes.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import { isHeldOpen } from '../../law/waiting.ts'
import { camelKeys } from '../../protocol/json/key-case.ts'
import { readReply } from '../../protocol/json/reply-body.ts'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { RETRY_FOR_MS_DEFAULT } from './back-off.ts'
import { HttpLink } from './http-link.ts'
import { outcomeOf } from './http-outcome.ts'
import { orderKeyOf, toError, toPath, toRequest, withRequestId } from './http-requests.ts'
import { HttpWaits } from './http-waits.ts'
import { HttpWatch } from './http-watch.ts'
import { KeyOrder } from './key-order.ts'
import { toAborted, toClosed, toInvalidArgument } from '../../engine/engine-errors.ts'

export interface HttpEngineOptions {
  /** Sent as a bearer token. */
  readonly token?: string | undefined
  /** Whom to trust over TLS, and what to show. */
  readonly tls?: SecureContextOptions | undefined
  /** Measures sockets and pauses between attempts. */
  readonly clock?: Clock | undefined
  /** Measures how long a wait has gone on; the clock when absent. */
  readonly waitNowMs?: (() => number) | undefined
  /** How long a call is tried again without any contact with the server; 10 seconds when absent. */
  readonly retryForMs?: number | undefined
}

interface HttpEngineParts {
  readonly link: HttpLink
  readonly capabilities: Capabilities
  readonly clock: Clock
  readonly retryForMs: number
  readonly waitNowMs: (() => number) | undefined
}

/** How long closing waits for answers that are on their way. */
const CLOSE_MS = 1_000

/**
 * An engine on the other side of a lock server, over plain HTTP: one request for each command and query,
 * a stream for each watch. Answers that got lost are asked for again; nothing takes effect twice.
 */
export class HttpEngine implements LockEngine {
  readonly capabilities: Capabilities
  readonly #clock: Clock
  readonly #link: HttpLink
  readonly #retryForMs: number
  readonly #order = new KeyOrder()
  readonly #waits: HttpWaits
  readonly #watches = new Set<HttpWatch>()
  readonly #pending = new Set<Promise<unknown>>()
  #events = 0
  #closing: Promise<void> | undefined

  private constructor({ link, capabilities, clock, retryForMs, waitNowMs }: HttpEngineParts) {
    this.capabilities = capabilities
    this.#link = link
    this.#clock = clock
    this.#retryForMs = retryForMs
    this.#waits = new HttpWaits({
      link,
      order: this.#order,
      send: (command) => this.#send(command),
      nowMs: waitNowMs ?? (() => clock.nowMs()),
    })
  }

  /** Resolves when the server has said what its engine promises. */
  static async open(url: string, options: HttpEngineOptions = {}): Promise<HttpEngine> {
    const { token, tls, clock = new SystemClock(), retryForMs = RETRY_FOR_MS_DEFAULT } = options
    const link = new HttpLink({ url: new URL(url), token, tls, clock, retryForMs })
    try {
      const path = '/v1/capabilities'
      const answer = await link.call({ method: 'GET', path }).answer
      if (answer.status !== 200) throw toError({ kind: 'open' }, answer)
      const capabilities = toCapabilities(answer.body)
      const { waitNowMs } = options
      return new HttpEngine({ link, capabilities, clock, retryForMs, waitNowMs })
    } catch (error) {
      link.close()
      throw error
    }
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>>
  async apply(command: Command, options: ApplyOptions = {}): Promise<Outcome> {
    const problem = problemWith(command)
    if (problem !== undefined) throw toInvalidArgument(command, problem)
    if (this.#closing !== undefined) throw toClosed()
    if (options.signal?.aborted) throw toAborted(command, options.signal)
    const named = withRequestId(command)
    if (isHeldOpen(named)) return this.#waits.ask(named, options.signal)
    return this.#track(this.#send(named))
  }

  async read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    if (this.#closing !== undefined) throw toClosed()
    const path = toPath(query)
    const answer = await this.#track(this.#link.call({ method: 'GET', path }).answer)
    if (answer.status !== 200) throw toError(query, answer)
    return readReply(query, answer.body)
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    if (this.#closing !== undefined) throw toClosed()
    const watch = new HttpWatch({
      link: this.#link,
      clock: this.#clock,
      filter,
      listener,
      nextId: () => (this.#events += 1),
      retryForMs: this.#retryForMs,
      onClose: (one) => this.#watches.delete(one),
    })
    this.#watches.add(watch)
    await watch.open()
    return watch
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** What is on its way gets a moment to arrive; then every socket is closed. */
  async #close(): Promise<void> {
    for (const watch of [...this.#watches]) void watch.close()
    const answers = Promise.allSettled([this.#waits.close(), ...this.#pending])
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(CLOSE_MS, resolve)
      timer.ref()
      void answers.then(() => {
        timer.cancel()
        resolve()
      })
    })
    this.#link.close()
    await answers
  }

  async #send<C extends Command>(command: C): Promise<OutcomeOf<C>> {
    const request = toRequest(command)
    const key = orderKeyOf(command)
    const ask = (): Promise<Outcome> => outcomeOf(command, this.#link.call(request))
    const outcome = await (key === undefined ? ask() : this.#order.run(key, ask))
    return outcome as OutcomeOf<C>
  }

  #track<T>(answer: Promise<T>): Promise<T> {
    this.#pending.add(answer)
    const forget = (): void => void this.#pending.delete(answer)
    answer.then(forget, forget)
    return answer
  }
}

/** Two engines on one server act as one, whatever the server's own engine can do. */
function toCapabilities(body: unknown): Capabilities {
  const capabilities = camelKeys(body) as unknown as Capabilities
  const name = `remote, over HTTP (${capabilities.name})`
  return Object.freeze({ ...capabilities, name, shared: true })
}
