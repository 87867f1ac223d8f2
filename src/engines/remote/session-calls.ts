import { toAborted } from '../../engine/engine-errors.ts'
import { createError, type LockError } from '../../engine/errors.ts'
import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import { writeAbort } from '../../protocol/session/client-frames.ts'
import { IdTable } from '../../protocol/session/id-table.ts'
import { ProtocolError } from '../../protocol/session/protocol-error.ts'
import type { Clock, Timer } from '../../time/clock.ts'
import { toUnreachable } from './remote-errors.ts'
import type { SessionCall } from './session-call.ts'
import { FRAME_BYTES, MESSAGE_BYTES_MAX } from './session-limits.ts'
import type { SessionLink } from './session-link.ts'
import { withWaitLeft } from './wait-left.ts'

export interface SessionCallsOptions {
  readonly link: SessionLink
  readonly clock: Clock
  /** How long a call is kept without any contact with the server. */
  readonly retryForMs: number
}

/** How often, while there is no connection, it is looked whose time is over. */
const LOOKS_PER_RETRY = 10

/** Every request that has not been answered, in the order of their ids, which is that of the calls. */
export class SessionCalls {
  /** Commands that name it say "this session". */
  ownSession = ''
  readonly #options: SessionCallsOptions
  readonly #link: SessionLink
  readonly #pending = new IdTable<SessionCall>()
  /** Those that have not been written, because there is no connection or it is congested. */
  #unsent: SessionCall[] = []
  #lastId = 0
  #downSinceMs = 0
  #cause: unknown
  #look: Timer | undefined

  constructor(options: SessionCallsOptions) {
    this.#options = options
    this.#link = options.link
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  send(call: SessionCall): void {
    this.#pending.add(call)
    if (this.#pending.size === 1) this.#link.keepAlive(true)
    if (this.#link.isReady && this.#unsent.length === 0) {
      this.#write(call)
      return
    }
    this.#unsent.push(call)
    if (!this.#link.isUp) this.#watchTime()
  }

  /** The call with this id, which is over now; `undefined` if nobody waits for it any more. */
  take(id: number): SessionCall | undefined {
    const call = this.#pending.take(id)
    if (call === undefined) return undefined
    call.unlisten?.()
    if (this.#pending.size === 0) this.#link.keepAlive(false)
    return call
  }

  /** Connected again. `lastId` is what the server has seen; `undefined` if it remembers nothing of us. */
  onUp(lastId: number | undefined): void {
    this.#look?.cancel()
    this.#look = undefined
    this.#unsent = []
    for (const call of this.#pending.sorted()) {
      const wasSeen = lastId !== undefined && call.id <= lastId
      if (!wasSeen) this.#sendAgain(call, lastId !== undefined)
      else if (call.isAborted) writeAbort(this.#link.open(), call.id)
    }
    this.onDrained()
  }

  /** The server stops, and has answered what it has seen; `lastId` is the last of that. */
  onStopping(lastId: number | undefined): void {
    this.onDown(new Error('the server stops'))
    for (const call of this.#pending.sorted()) {
      const isUnseen = lastId !== undefined && call.id > lastId
      if (isUnseen && !call.wasForgotten) call.wasSent = false
    }
  }

  onDown(cause: unknown): void {
    this.#cause = cause
    if (this.#look !== undefined) return
    this.#downSinceMs = this.#options.clock.nowMs()
    if (this.#pending.size > 0) this.#watchTime()
  }

  onDrained(): void {
    const unsent = this.#unsent
    let count = 0
    while (count < unsent.length && this.#link.isReady) {
      const call = unsent[count] as SessionCall
      if (this.#pending.has(call.id)) this.#write(call)
      count += 1
    }
    this.#unsent = unsent.slice(count)
  }

  rejectAll(toError: (call: SessionCall) => LockError): void {
    this.#look?.cancel()
    this.#unsent = []
    for (const { id } of this.#pending.sorted()) {
      const call = this.take(id)
      call?.reject(toError(call))
    }
  }

  #write(call: SessionCall): void {
    const writer = this.#link.open()
    const { length } = writer
    try {
      call.write(writer, this.ownSession)
      if (writer.length - length > MESSAGE_BYTES_MAX) throw new ProtocolError('it is too long')
    } catch (error) {
      // Only a query can be of a kind that no message has; commands have been looked at before.
      if (!(error instanceof ProtocolError)) throw error
      writer.rewind(length)
      this.take(call.id)
      call.reject(createError('LOCK_INVALID_ARGUMENT', `this cannot be asked: ${error.message}`))
      return
    }
    if (call.isAborted) writeAbort(writer, call.id)
    // Whether there is still room shows only when it was given to the socket.
    if (writer.length > FRAME_BYTES) this.#link.flush()
  }

  /** To a server that remembers nothing: either it cannot do harm, or nobody can say what became of it. */
  #sendAgain(call: SessionCall, isRemembered: boolean): void {
    if (!isRemembered && call.wasSent) {
      if (!call.isRepeatable) {
        this.take(call.id)
        call.reject(toUnreachable('maybe', new Error('it was restarted, or is another one')))
        return
      }
      call.wasForgotten = true
      this.#shorten(call)
    }
    this.#unsent.push(call)
  }

  /** A wait that starts anew must not become longer by it. */
  #shorten(call: SessionCall): void {
    const { asked, startedAtMs } = call
    if (!isHeldOpen(asked)) return
    call.asked = withWaitLeft(asked, this.#options.clock.nowMs() - startedAtMs)
  }

  #watchTime(): void {
    if (this.#look !== undefined) return
    const { clock, retryForMs } = this.#options
    this.#look = clock.setTimer(retryForMs / LOOKS_PER_RETRY, () => {
      this.#look = undefined
      this.#giveUpLate()
      if (this.#pending.size > 0) this.#watchTime()
    })
    this.#look.ref()
  }

  #giveUpLate(): void {
    const { clock, retryForMs } = this.#options
    const lateMs = clock.nowMs() - retryForMs
    if (this.#downSinceMs > lateMs) return
    for (const { id, startedAtMs } of this.#pending.sorted()) {
      if (startedAtMs > lateMs) continue
      const call = this.take(id)
      call?.reject(this.#toLate(call))
    }
    this.#unsent = this.#unsent.filter(({ id }) => this.#pending.has(id))
  }

  #toLate({ wasSent, isAborted, asked, signal }: SessionCall): LockError {
    const applied = wasSent && asked.kind !== 'read' ? 'maybe' : 'no'
    if (!isAborted || signal === undefined) return toUnreachable(applied, this.#cause)
    return toAborted(asked, signal, applied)
  }
}
