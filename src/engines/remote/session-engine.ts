import type { SecureContextOptions } from 'node:tls'
import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  ApplyOptions,
  EngineSession,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import { toAborted, toClosed, toInvalidArgument } from '../../engine/errors/engine-errors.ts'
import { knownCode } from '../../engine/errors/error-catalogue.ts'
import { createError, isLockError, type LockError } from '../../engine/errors/errors.ts'
import type { Query, ReplyOf } from '../../engine/queries.ts'
import { problemWithFilter, problemWithQuery } from '../../engine/validation/query-check.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import type { Command } from '../../law/model/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/model/outcomes.ts'
import {
  isHeldOpen,
  nameOfWait,
  toCancel,
  type WaitingCommand,
} from '../../engine/waits/waiting-command.ts'
import type { Failed, Request, Welcome } from '../../wire/session/session-message.ts'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { HeartbeatThread } from './heartbeat-thread.ts'
import { SessionCalls } from './session-calls.ts'
import { RETRY_FOR_MS_DEFAULT } from './session-limits.ts'
import { type PassedOn, SessionLink } from './session-link.ts'
import { SessionLiveness } from './session-liveness.ts'
import { type OpenSocket, openSessionSocket } from './session-socket.ts'
import { SessionWatches } from './session-watches.ts'

export interface SessionEngineOptions {
  /** Sent as a bearer token. */
  readonly token?: string | undefined
  /** Which authorities to trust over TLS, and which certificate to show. */
  readonly tls?: SecureContextOptions | undefined
  /** Shown to operators. */
  readonly client?: string | undefined
  readonly clock?: Clock | undefined
  /** How long a call is tried without any contact with the server; 10 seconds when absent. */
  readonly retryForMs?: number | undefined
  /** Whether a worker thread sends heartbeats while the main thread of this process is busy; by default it does. */
  readonly heartbeatThread?: boolean | undefined
  /** What carries frames; a WebSocket when absent. */
  readonly openSocket?: OpenSocket | undefined
}

/**
 * An engine on the other side of a lock server, over one WebSocket: many calls under way at once, in few
 * frames. A connection that breaks is made anew, and what was not answered is asked again.
 */
export class SessionEngine implements LockEngine {
  readonly #url: URL
  readonly #options: SessionEngineOptions
  readonly #clock: Clock
  readonly #link: SessionLink
  readonly #calls: SessionCalls
  readonly #watches: SessionWatches
  /** Told how the first connection went. Unlike later ones, a caller waits for it. */
  #onOpened: (error?: LockError) => void = () => {}
  #capabilities: Capabilities | undefined
  #thread: HeartbeatThread | undefined
  #session: SessionLiveness | undefined
  #refusal: LockError | undefined
  #closing: Promise<void> | undefined

  private constructor(url: URL, options: SessionEngineOptions) {
    const { token, tls, client = '', clock = new SystemClock() } = options
    const { retryForMs = RETRY_FOR_MS_DEFAULT, openSocket = openSessionSocket } = options
    this.#url = url
    this.#options = options
    this.#clock = clock
    const handler = {
      onUp: (welcome: Welcome) => this.#onUp(welcome),
      onDown: (cause: unknown) => this.#onDown(cause),
      onRefused: (error: LockError) => this.#onRefused(error),
      onDrained: () => this.#calls.onDrained(),
      onHeard: (sentAtMs: number) => this.#session?.onHeard(sentAtMs),
      onMessage: (number: number, message: PassedOn) => this.#onMessage(number, message),
    }
    this.#link = new SessionLink({ url, token, tls, client, clock, openSocket, handler })
    this.#calls = new SessionCalls({ link: this.#link, clock, retryForMs })
    this.#watches = new SessionWatches({
      clock,
      ask: (request) => this.#ask(request),
      isUp: () => this.#link.isUp,
      isStopped: () => this.#stopped() !== undefined,
    })
  }

  /** Resolves when the server has welcomed this client. */
  static async open(url: string, options: SessionEngineOptions = {}): Promise<SessionEngine> {
    const engine = new SessionEngine(new URL(url), options)
    try {
      await engine.#connect(options.retryForMs ?? RETRY_FOR_MS_DEFAULT)
    } catch (error) {
      await engine.close()
      throw error
    }
    engine.#link.keepAlive(false)
    return engine
  }

  get capabilities(): Capabilities {
    return this.#capabilities as Capabilities
  }

  get session(): EngineSession {
    return this.#session as SessionLiveness
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>>
  apply(command: Command, options?: ApplyOptions): Promise<Outcome> {
    const problem = problemWith(command)
    if (problem !== undefined) return Promise.reject(toInvalidArgument(command, problem))
    const stopped = this.#stopped()
    if (stopped !== undefined) return Promise.reject(stopped)
    const signal = options?.signal
    if (signal?.aborted === true) return Promise.reject(toAborted(command, signal))
    if (signal === undefined || !isHeldOpen(command)) return this.#ask<Outcome>(command)
    return this.#untilAborted(command, signal)
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    const problem = problemWithQuery(query)
    if (problem !== undefined) return Promise.reject(toInvalidArgument(query, problem))
    const stopped = this.#stopped()
    if (stopped !== undefined) return Promise.reject(stopped)
    return this.#ask<ReplyOf<Q>>({ kind: 'read', query })
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    const problem = problemWithFilter(filter)
    if (problem !== undefined) throw toInvalidArgument({ kind: 'watch' }, problem)
    const stopped = this.#stopped()
    if (stopped !== undefined) throw stopped
    return this.#watches.add(filter, listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await this.#thread?.stop()
    this.#watches.clear()
    const wasHeard = await this.#link.close()
    // A server that has heard the good-bye has given up every wait before it closed.
    this.#calls.rejectAll(({ wasSent, request }) =>
      toClosed(!wasSent || (wasHeard && isHeldOpen(request)) ? 'no' : 'maybe'),
    )
  }

  #connect(retryForMs: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const timer = this.#clock.setTimer(retryForMs, () => reject(this.#calls.unreachable('no')))
      timer.ref()
      this.#onOpened = (error) => {
        timer.cancel()
        if (error === undefined) resolve()
        else reject(error)
      }
      this.#link.connect()
    })
  }

  #ask<Value>(request: Request): Promise<Value> {
    return this.#calls.start<Value>(request).promise
  }

  /** What an aborted wait has brought is undone by the same command that gives up its place. */
  async #untilAborted(command: WaitingCommand, signal: AbortSignal): Promise<Outcome> {
    const call = this.#calls.start<Outcome>(command)
    let withdrawn: Promise<unknown> | undefined
    const onAbort = (): void => {
      call.isAborted = true
      if (!call.wasSent) this.#calls.take(call.id)
      if (!call.wasSent || this.#isWaitedFor(command)) call.reject(toAborted(command, signal))
      else withdrawn = this.#ask(toCancel(command)).catch(() => 'unanswered')
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      const outcome = await call.promise
      if (withdrawn === undefined || isSettled(outcome)) return outcome
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
    throw toAborted(command, signal, (await withdrawn) === 'unanswered' ? 'maybe' : 'no')
  }

  /** Whether a call that was not aborted waits for the same. */
  #isWaitedFor(command: WaitingCommand): boolean {
    const name = nameOfWait(command)
    return this.#calls.some(
      ({ request, isAborted }) => !isAborted && isHeldOpen(request) && nameOfWait(request) === name,
    )
  }

  #stopped(): LockError | undefined {
    return this.#closing === undefined ? this.#refusal : toClosed()
  }

  #onUp(welcome: Welcome): void {
    const isFirst = this.#session === undefined
    this.#session ??= this.#createSession(welcome)
    if (isFirst) this.#onOpened()
    this.#calls.onUp()
    this.#session.onWelcome(welcome)
    if (!isFirst) this.#watches.reopen()
  }

  #createSession(welcome: Welcome): SessionLiveness {
    const { name } = welcome.capabilities
    const capabilities = { ...welcome.capabilities, name: `remote (${name})`, shared: true }
    this.#capabilities = Object.freeze(capabilities)
    const { session, heartbeatMs } = welcome
    const { token, tls, client = '', heartbeatThread = true } = this.#options
    const address = { url: this.#url.href, token, tls, client }
    this.#thread = new HeartbeatThread({ ...address, session, heartbeatMs, clock: this.#clock })
    return new SessionLiveness(welcome, this.#thread, heartbeatThread)
  }

  #onDown(cause: unknown): void {
    this.#calls.onDown(cause)
    if (isLockError(cause)) this.#onOpened(cause)
  }

  #onRefused(error: LockError): void {
    this.#refusal = error
    this.#onOpened(error)
    this.#calls.rejectAll(({ wasSent }) => {
      const { code, message } = error
      return createError(code, message, { applied: wasSent ? 'maybe' : 'no' })
    })
  }

  #onMessage(number: number, message: PassedOn): void {
    switch (message.kind) {
      case 'failed':
        this.#calls.take(number)?.reject(toError(message))
        return
      case 'reply':
        this.#calls.take(number)?.resolve(message.reply)
        return
      case 'done':
        this.#calls.take(number)?.resolve(undefined)
        return
      case 'event':
        this.#watches.tell(number, message.event)
        return
      case 'lost':
        this.#session?.onLost(message)
        return
      default:
        this.#calls.take(number)?.resolve(message)
    }
  }
}

function toError({ code, message, applied, details = {} }: Failed): LockError {
  return createError(knownCode(code) ?? 'LOCK_INTERNAL', message, { applied, details })
}

/** An answer that no abort changes: the request was refused for a reason of its own, or the work is done. */
function isSettled(outcome: Outcome): boolean {
  if (outcome.kind !== 'refused') return outcome.kind !== 'granted' && outcome.kind !== 'queued'
  return outcome.code !== 'cancelled' && outcome.end !== 'cancelled'
}
