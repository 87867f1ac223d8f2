import type { SecureContextOptions } from 'node:tls'
import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  ApplyOptions,
  EngineSession,
  LockEngine,
  WatchEvent,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import { knownCode } from '../../engine/error-catalogue.ts'
import { createError, isLockError, type LockError } from '../../engine/errors.ts'
import type { Query, ReplyOf } from '../../engine/queries.ts'
import type { Acquire, Begin, Command } from '../../law/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/outcomes.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import { writeAbort } from '../../protocol/session/client-frames.ts'
import type { Failure, Lost, Welcome } from '../../protocol/session/server-message.ts'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { toAborted, toClosed, toInvalidArgument } from '../../engine/engine-errors.ts'
import { RETRY_FOR_MS_DEFAULT } from './back-off.ts'
import { toUnreachable } from './remote-errors.ts'
import { type Asked, SessionCall } from './session-call.ts'
import { SessionCalls } from './session-calls.ts'
import { RECONNECT_MS_MAX } from './session-limits.ts'
import { type LinkHandler, SessionLink } from './session-link.ts'
import { SessionLiveness } from './session-liveness.ts'
import { SessionPulse } from './session-pulse.ts'
import { SessionWatch } from './session-watch.ts'
import { undoGrant } from './undo-grant.ts'

export interface SessionEngineOptions {
  /** Sent as a bearer token. */
  readonly token?: string | undefined
  /** Whom to trust over TLS, and what to show. */
  readonly tls?: SecureContextOptions | undefined
  /** Shown to operators. */
  readonly client?: string | undefined
  readonly clock?: Clock | undefined
  /** How long a call is tried without any contact with the server; 10 seconds when absent. */
  readonly retryForMs?: number | undefined
  /** Off: nobody vouches for this process while its main thread is busy. Default on. */
  readonly pulse?: boolean | undefined
}

/**
 * An engine on the other side of a lock server, over one WebSocket: many calls under way at once, in few
 * frames. A connection that breaks is made anew, and no call notices unless that takes too long.
 */
export class SessionEngine implements LockEngine {
  readonly #link: SessionLink
  readonly #clock: Clock
  readonly #calls: SessionCalls
  readonly #pulse: SessionPulse
  readonly #watches = new Map<number, SessionWatch>()
  readonly #opened = createOpening()
  #capabilities: Capabilities | undefined
  #session: SessionLiveness | undefined
  #lastEvent = 0
  #refusal: LockError | undefined
  #closing: Promise<void> | undefined

  private constructor(url: URL, options: SessionEngineOptions) {
    const { token, tls, client = '', clock = new SystemClock(), pulse = true } = options
    const { retryForMs = RETRY_FOR_MS_DEFAULT } = options
    this.#clock = clock
    this.#link = new SessionLink({ url, token, tls, client, clock, handler: this.#createHandler() })
    this.#pulse = new SessionPulse({ url, token, tls, client, clock, isOn: pulse })
    this.#calls = new SessionCalls({ link: this.#link, clock, retryForMs })
  }

  /** Resolves when the server has welcomed us. */
  static async open(url: string, options: SessionEngineOptions = {}): Promise<SessionEngine> {
    const engine = new SessionEngine(new URL(url), options)
    const { retryForMs = RETRY_FOR_MS_DEFAULT } = options
    const timer = engine.#clock.setTimer(retryForMs, () => engine.#opened.giveUp())
    timer.ref()
    engine.#link.connect()
    try {
      await engine.#opened.promise
    } catch (error) {
      await engine.close()
      throw error
    } finally {
      timer.cancel()
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
    if (signal?.aborted) return Promise.reject(toAborted(command, signal))
    if (signal === undefined || !isHeldOpen(command)) return this.#ask<Outcome>(command)
    return this.#askAbortable(command, signal)
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    const stopped = this.#stopped()
    if (stopped !== undefined) return Promise.reject(stopped)
    return this.#ask<ReplyOf<Q>>({ kind: 'read', query })
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    const stopped = this.#stopped()
    if (stopped !== undefined) throw stopped
    const watch = new SessionWatch({
      filter,
      listener,
      nextId: () => (this.#lastEvent += 1),
      onClose: (one) => this.#unwatch(one),
    })
    await this.#open(watch)
    return watch
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await this.#pulse.stop()
    this.#watches.clear()
    const wasHeard = await this.#link.close()
    // A server that has heard the good-bye has given up every wait before it closed.
    this.#calls.rejectAll((call) => {
      const isSure = !call.wasSent || (wasHeard && isHeldOpen(call.asked))
      return toClosed(isSure ? 'no' : 'maybe')
    })
  }

  #ask<Value>(asked: Asked, mayBeDoneTwice = false): Promise<Value> {
    const call = this.#createCall<Value>(asked)
    call.mayBeDoneTwice = mayBeDoneTwice
    this.#calls.send(call)
    return call.promise
  }

  #createCall<Value>(asked: Asked): SessionCall<Value> {
    return new SessionCall<Value>(this.#calls.nextId(), asked, this.#clock.nowMs())
  }

  async #askAbortable(command: Acquire | Begin, signal: AbortSignal): Promise<Outcome> {
    const call = this.#createCall<Outcome>(command)
    const onAbort = (): void => this.#abort(call)
    call.signal = signal
    call.unlisten = () => signal.removeEventListener('abort', onAbort)
    signal.addEventListener('abort', onAbort, { once: true })
    this.#calls.send(call)
    const outcome = await call.promise
    if (!call.isAborted) return outcome
    // Through a restart of the server too: whoever gave up does not look for what is left of it.
    const isUndone = await undoGrant((one) => this.#ask(one, true), command, outcome)
    if (isUndone) throw toAborted(command, signal)
    return outcome
  }

  /** The answer says how it went; where nothing was sent yet, there is nothing to wait for. */
  #abort(call: SessionCall): void {
    call.isAborted = true
    if (!call.wasSent) {
      this.#calls.take(call.id)
      call.reject(toAborted(call.asked, call.signal as AbortSignal))
    } else if (this.#link.isUp) {
      writeAbort(this.#link.open(), call.id)
    }
  }

  async #open(watch: SessionWatch): Promise<void> {
    const { filter } = watch
    const call = this.#createCall<unknown>({ kind: 'watch', filter })
    watch.id = call.id
    this.#watches.set(call.id, watch)
    this.#calls.send(call)
    try {
      await call.promise
    } catch (error) {
      this.#watches.delete(call.id)
      throw error
    }
  }

  async #unwatch(watch: SessionWatch): Promise<void> {
    if (!this.#watches.delete(watch.id) || this.#stopped() !== undefined) return
    await this.#ask({ kind: 'unwatch', watch: watch.id })
  }

  /** A server that knows nothing of us was told again; what happened meanwhile is not known. */
  async #reopen(watch: SessionWatch): Promise<void> {
    this.#watches.delete(watch.id)
    try {
      await this.#open(watch)
      watch.reset(this.#clock.wallMs())
    } catch {
      // It was closed meanwhile, or the server is gone again and every watch is opened again later.
      if (this.#stopped() !== undefined) return
      this.#watches.set(watch.id, watch)
      if (this.#link.isUp) this.#reopenLater(watch)
    }
  }

  /** The server is there and does not take it now: others have too many, or its engine is failing. */
  #reopenLater(watch: SessionWatch): void {
    const { id } = watch
    this.#clock.setTimer(RECONNECT_MS_MAX, () => {
      if (this.#watches.get(id) === watch && this.#stopped() === undefined) void this.#reopen(watch)
    })
  }

  #stopped(): LockError | undefined {
    return this.#closing === undefined ? this.#refusal : toClosed()
  }

  #createHandler(): LinkHandler {
    return {
      onUp: (welcome, sentAtMs) => this.#onUp(welcome, sentAtMs),
      onDown: (cause) => {
        this.#opened.note(cause)
        this.#calls.onDown(cause)
      },
      onRefused: (error) => this.#onRefused(error),
      onDrained: () => this.#calls.onDrained(),
      onVouched: (sentAtMs) => this.#session?.vouch(sentAtMs),
      outcome: (id, outcome) => this.#calls.take(id)?.resolve(outcome),
      failure: (id, failure) => this.#onFailure(id, failure),
      reply: (id, reply) => this.#calls.take(id)?.resolve(reply),
      done: (id) => this.#calls.take(id)?.resolve(undefined),
      event: (watch: number, event: WatchEvent) => this.#watches.get(watch)?.tell(event),
      lost: (lost: Lost) => this.#session?.lose({ kind: 'hold', ...lost }),
      over: () => this.#session?.lose({ kind: 'all' }),
      comeBack: (lastId) => this.#calls.onStopping(lastId),
    }
  }

  #onUp(welcome: Welcome, sentAtMs: number): void {
    const { session: id, graceMs, heartbeatMs, resumed, kept, lastId } = welcome
    if (this.#session === undefined) {
      const { name } = welcome.capabilities
      const capabilities = { ...welcome.capabilities, name: `remote (${name})`, shared: true }
      this.#capabilities = Object.freeze(capabilities)
      this.#session = new SessionLiveness({ id, graceMs, heartbeatMs }, sentAtMs, this.#pulse)
      this.#pulse.session = { id, heartbeatMs }
      this.#calls.ownSession = id
      this.#opened.resolve()
      return
    }
    // Before anything counts from this hello: what was held must not come back to life by it.
    if (!kept) this.#session.lose({ kind: 'all' })
    // A session that goes on has more to say about the time before this hello: a grant, and that it was
    // lost again. Nothing counts until that has been heard; the heartbeat that follows is answered after.
    if (!resumed) this.#session.vouch(sentAtMs)
    this.#calls.onUp(resumed ? lastId : undefined)
    if (resumed) return
    for (const watch of [...this.#watches.values()]) void this.#reopen(watch)
  }

  #onRefused(error: LockError): void {
    this.#refusal = error
    this.#opened.reject(error)
    this.#calls.rejectAll(({ wasSent }) => {
      const { code, message } = error
      return createError(code, message, { applied: wasSent ? 'maybe' : 'no' })
    })
  }

  #onFailure(id: number, failure: Failure): void {
    const call = this.#calls.take(id)
    if (call === undefined) return
    const { signal, isAborted, asked } = call
    const { code: sent, message, applied, details } = failure
    const code = knownCode(sent) ?? 'LOCK_INTERNAL'
    if (isAborted && signal !== undefined && code === 'LOCK_ABORTED') {
      call.reject(toAborted(asked, signal))
    } else {
      call.reject(createError(code, message, { applied, details }))
    }
  }
}

interface Opening {
  readonly promise: Promise<void>
  resolve(): void
  reject(error: Error): void
  /** Why it has not worked so far. */
  note(cause: unknown): void
  giveUp(): void
}

/** The first connection; unlike later ones, somebody waits for it. */
function createOpening(): Opening {
  let latest: unknown = new Error('it does not answer in time')
  let resolve: () => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return {
    promise,
    resolve: () => resolve(),
    reject: (error) => reject(error),
    note: (cause) => {
      latest = cause
      if (isLockError(cause)) reject(cause)
    },
    giveUp: () => reject(toUnreachable('no', latest)),
  }
}
