import { createError, type LockError } from '../../engine/errors/errors.ts'
import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import { OPEN_REQUESTS_MAX } from '../../wire/session/session-limits.ts'
import type { Request } from '../../wire/session/session-message.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import type { SessionLink } from './session-link.ts'

export interface SessionCallsOptions {
  readonly link: SessionLink
  readonly clock: Clock
  /** How long a call is kept without any contact with the server. */
  readonly retryForMs: number
}

/** How often, while there is no connection, late calls are looked for. */
const LOOKS_PER_RETRY = 10

/** The two ends of the promise that is being made. */
let resolveMade: (value: unknown) => void
let rejectMade: (error: Error) => void
/** One for all promises: there are several hundred thousand of them in a second. */
const capture = (resolve: (value: never) => void, reject: (error: Error) => void): void => {
  resolveMade = resolve as (value: unknown) => void
  rejectMade = reject
}

/** A request that has not been answered. */
class SessionCall<Value = unknown> {
  /** Of its place among those that are unanswered. */
  id = 0
  /** Grows from call to call. */
  readonly order: number
  readonly startedAtMs: number
  readonly request: Request
  readonly promise: Promise<Value> = new Promise<Value>(capture)
  readonly resolve: (value: unknown) => void = resolveMade
  readonly reject: (error: Error) => void = rejectMade
  /** Whether a server may have seen it. */
  wasSent = false
  /** Its caller waits no more. It keeps its id until the server has answered. */
  isAborted = false

  constructor(order: number, startedAtMs: number, request: Request) {
    this.order = order
    this.startedAtMs = startedAtMs
    this.request = request
  }
}

/** Every request that has not been answered. */
export class SessionCalls {
  readonly #options: SessionCallsOptions
  readonly #link: SessionLink
  /** By id. A call has the place of one that is over: a map of growing ids would make much more garbage. */
  readonly #pending: (SessionCall | undefined)[] = []
  readonly #freeIds: number[] = []
  /** Those that have not been written, because there is no connection or it is congested. */
  #unsent: SessionCall[] = []
  #started = 0
  #downSinceMs = 0
  #cause: unknown = new Error('it does not answer in time')
  #look: Timer | undefined

  constructor(options: SessionCallsOptions) {
    this.#options = options
    this.#link = options.link
  }

  /** How many there are. */
  get #open(): number {
    return this.#pending.length - this.#freeIds.length
  }

  start<Value>(request: Request): SessionCall<Value> {
    const id = this.#freeIds.pop() ?? this.#pending.length
    this.#started += 1
    const call = new SessionCall<Value>(this.#started, this.#options.clock.nowMs(), request)
    call.id = id
    if (id >= OPEN_REQUESTS_MAX) {
      call.reject(createError('LOCK_LIMIT', `more than ${OPEN_REQUESTS_MAX} calls are under way`))
      return call
    }
    this.#pending[id] = call as SessionCall
    if (this.#open === 1) this.#link.keepAlive(true)
    if (this.#link.isReady && this.#unsent.length === 0) {
      this.#write(call as SessionCall, request)
    } else {
      this.#unsent.push(call as SessionCall)
      if (!this.#link.isUp) this.#watchTime()
    }
    return call
  }

  /** The call with this id, which is over now; `undefined` if no caller waits for it any more. */
  take(id: number): SessionCall | undefined {
    const call = this.#pending[id]
    if (call === undefined) return undefined
    this.#pending[id] = undefined
    this.#freeIds.push(id)
    if (this.#open === 0) this.#link.keepAlive(false)
    return call
  }

  some(test: (call: SessionCall) => boolean): boolean {
    return this.#pending.some((call) => call !== undefined && test(call))
  }

  /** In the order in which they were given. */
  #all(): SessionCall[] {
    const calls = this.#pending.filter((call) => call !== undefined)
    return calls.sort((one, other) => one.order - other.order)
  }

  /**
   * Connected again. Everything that is unanswered is sent again, in its order and before anything new, under
   * the same request ids.
   */
  onUp(): void {
    this.#look?.cancel()
    this.#look = undefined
    this.#unsent = this.#all()
    this.onDrained()
  }

  /** What was sent and cannot be sent twice fails: no connection will tell what became of it. */
  onDown(cause: unknown): void {
    this.#cause = cause
    for (const call of this.#all()) {
      if (!call.wasSent || isRepeatable(call.request)) continue
      this.take(call.id)
      call.reject(this.unreachable('maybe'))
    }
    if (this.#look !== undefined) return
    this.#downSinceMs = this.#options.clock.nowMs()
    if (this.#open > 0) this.#watchTime()
  }

  onDrained(): void {
    const unsent = this.#unsent
    let count = 0
    while (count < unsent.length && this.#link.isReady) {
      const call = unsent[count] as SessionCall
      if (this.#isOpen(call)) this.#write(call, this.#withWaitLeft(call))
      count += 1
    }
    this.#unsent = unsent.slice(count)
  }

  rejectAll(toError: (call: SessionCall) => LockError): void {
    this.#look?.cancel()
    this.#unsent = []
    for (const call of this.#all()) {
      this.take(call.id)
      call.reject(toError(call))
    }
  }

  /** The server could not be reached, or not for long enough to hear its answer. */
  unreachable(applied: 'no' | 'maybe'): LockError {
    const cause = this.#cause
    const what = cause instanceof Error ? cause.message : String(cause)
    return createError('LOCK_ENGINE_UNAVAILABLE', `the lock server does not answer: ${what}`, {
      applied,
      cause,
    })
  }

  #isOpen(call: SessionCall): boolean {
    return this.#pending[call.id] === call
  }

  #write(call: SessionCall, request: Request): void {
    call.wasSent = true
    this.#link.write(call.id, request)
  }

  /** A wait that begins late, or again, does not become longer by that; it stays a wait to the end. */
  #withWaitLeft({ request, startedAtMs }: SessionCall): Request {
    if (!isHeldOpen(request)) return request
    const leftMs = startedAtMs + (request.waitMs ?? 0) - this.#options.clock.nowMs()
    return { ...request, waitMs: Math.max(1, Math.ceil(leftMs)) }
  }

  #watchTime(): void {
    if (this.#look !== undefined) return
    const { clock, retryForMs } = this.#options
    this.#look = clock.setTimer(retryForMs / LOOKS_PER_RETRY, () => {
      this.#look = undefined
      this.#giveUpLate()
      if (this.#open > 0) this.#watchTime()
    })
    this.#look.ref()
  }

  #giveUpLate(): void {
    const { clock, retryForMs } = this.#options
    const lateMs = clock.nowMs() - retryForMs
    if (this.#downSinceMs > lateMs) return
    for (const call of this.#all()) {
      if (call.startedAtMs > lateMs) continue
      this.take(call.id)
      const mayBeApplied = call.wasSent && call.request.kind !== 'read'
      call.reject(this.unreachable(mayBeApplied ? 'maybe' : 'no'))
    }
    this.#unsent = this.#unsent.filter((call) => this.#isOpen(call))
  }
}

/**
 * Whether a request can be sent again after its answer was lost: the law knows it by its request id, or
 * asking for it twice is asking once. Others may have been applied, and no answer would tell.
 */
function isRepeatable(request: Request): boolean {
  switch (request.kind) {
    case 'acquire':
    case 'begin':
    case 'renew':
    case 'open-session':
    case 'touch-session':
    case 'read':
    case 'watch':
    case 'unwatch':
    case 'sweep':
      return true
    case 'release':
    case 'finish':
    case 'cancel':
      return request.requestId !== undefined
    case 'force':
    case 'unref':
    case 'close-session':
      return false
  }
}
