import { randomInt } from 'node:crypto'
import type { LockEngine, WatchEvent } from '../../engine/engine.ts'
import { createError } from '../../engine/errors/errors.ts'
import type { Query } from '../../engine/queries.ts'
import type { CancelReason, Command } from '../../law/model/commands.ts'
import type { Outcome, Refused } from '../../law/model/outcomes.ts'
import { isHeldOpen, nameOfWait, type WaitingCommand } from '../../engine/waits/waiting-command.ts'
import { ProtocolError } from '../../wire/session/protocol-error.ts'
import { OPEN_REQUESTS_MAX } from '../../wire/session/session-limits.ts'
import type { ServerMessage } from '../../wire/session/session-message.ts'
import { NO_SESSION } from '../../law/sessions.ts'
import type { Timer } from '../../time/clock.ts'
import { nextTurn } from '../../time/turn.ts'
import type { PrincipalView } from '../access/principal-view.ts'
import type { SessionEnd } from '../observe/session-metrics.ts'
import { toFailed } from './failure.ts'
import { type HeldRequest, HeldRequests } from './held-requests.ts'
import { LawSession } from './law-session.ts'
import { RequestSlots } from './request-slots.ts'
import type { SessionConnection } from './session-connection.ts'

export interface ClientSessionParts {
  readonly id: string
  /** The engine as the client's principal may use it. */
  readonly engine: LockEngine
  readonly view: PrincipalView
  /** Whether a command opens, keeps or closes the session of another client's WebSocket. */
  readonly isForAnother: (command: Command) => boolean
  readonly graceMs: number
  /** Runs something when the grace of a broken connection has passed. */
  readonly setTimer: (onOver: () => void) => Timer
  /** Told of every error that becomes an answer, or keeps one from being given. */
  readonly onFailure: (error: unknown) => void
  /** Told once, when no client can come back to it any more. */
  readonly onEnded: (end: SessionEnd) => void
}

/** A request that waits, by the id that the client gave it. */
interface SessionWait extends HeldRequest<number> {
  /** The connection that asked for it. */
  readonly attachment: number
}

/** Waits that are given up before other clients are served again. */
const WITHDRAWN_AT_ONCE_MAX = 1_000

/** Where the count of losses begins, so that those of two servers are not taken for each other. */
const LOSSES_START_MAX = 2 ** 47

/**
 * One client, across its connections: the session in the engine, and the requests that wait.
 *
 * A connection that breaks loses what was on its way. The client connects again, sends its unanswered
 * requests again with the same request ids, and asks which of its holds stand: the law answers a request
 * that it knows as it did before. What waits here keeps its place until then, and is withdrawn if the client
 * has not asked for it again when the grace is over. So is a grant that came while no connection was there.
 * What was written to a connection may have been heard: it is left to its lease.
 */
export class ClientSession {
  readonly id: string
  readonly law: LawSession
  /** When something was last received, on the clock of the sockets. */
  heardAtMs = 0
  /** Connections that only send heartbeats. */
  readonly heartbeats: Set<SessionConnection> = new Set()
  readonly #parts: ClientSessionParts
  readonly #engine: LockEngine
  readonly #held = new HeldRequests<number, SessionWait>(new RequestSlots())
  #connection: SessionConnection | undefined
  /** Counts the connections. An answer goes to the connection that has asked, or nowhere. */
  #attachment = 0
  /** Requests that the engine will answer by itself. */
  #pending = 0
  #losses: number = randomInt(LOSSES_START_MAX)
  #grace: Timer | undefined
  #onSettled: (() => void) | undefined
  #isOver = false

  constructor(parts: ClientSessionParts) {
    const { id, engine, graceMs, onFailure } = parts
    this.id = id
    this.#parts = parts
    this.#engine = engine
    const onEnded = (): void => this.#lose({ kind: 'lost' })
    this.law = new LawSession({ engine, session: id, graceMs, onEnded, onFailure })
  }

  get connection(): SessionConnection | undefined {
    return this.#connection
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get losses(): number {
    return this.#losses
  }

  /** An older connection that is still open means nothing any more. */
  attach(connection: SessionConnection): void {
    this.#connection?.supersede()
    this.#connection = connection
    this.#attachment += 1
  }

  /** The late close of an older connection is no news. */
  detach(connection: SessionConnection): void {
    this.heartbeats.delete(connection)
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.startGrace()
  }

  /** From now on the client has so long to ask again for what it wants. */
  startGrace(): void {
    if (this.#isOver) return
    const attachment = this.#attachment
    this.#grace?.cancel()
    this.#grace = this.#parts.setTimer(() => {
      if (this.#connection !== undefined) void this.#withdrawUpTo(attachment, 'abandoned')
      // The main thread of the client may be blocked for a while.
      else if (this.heartbeats.size > 0) this.startGrace()
      else this.abandon('gone')
    })
  }

  command(id: number, command: Command): void {
    if (this.#isOver || this.#isFull(id)) return
    if (this.#parts.isForAnother(command)) return this.#tell(id, NO_SESSION)
    if (this.#held.size > 0) this.#takeOver(id, command)
    const mustOpen = !this.law.isOpen && this.#isInSession(command)
    const opening = mustOpen ? this.law.open() : this.law.opening
    if (opening === undefined) this.#apply(id, command)
    else this.#applyAfter(opening, id, command)
  }

  /** Resolves when the client has been answered. */
  async read(id: number, query: Query): Promise<void> {
    if (!this.#isFull(id)) await this.#await(id, this.#engine.read(query), replyOf)
  }

  /** Something that a connection does for its client. */
  perform(id: number, work: () => Promise<void>): void {
    if (!this.#isFull(id)) void this.#await(id, work(), () => DONE)
  }

  /** An event about a hold that was taken in this session. */
  onEvent(event: Exclude<WatchEvent, { kind: 'reset' }>): void {
    const { namespace, key, owner, token, end } = event
    if (end === undefined) return
    const shown = this.#parts.view.toShownOwner(owner, namespace)
    this.#lose({ kind: 'lost', namespace, key, owner: shown, token, end })
  }

  /** The engine has lost track of what happened. */
  onReset(): void {
    this.#lose({ kind: 'lost' })
  }

  /** Resolves when nothing is held or waited for in the session, and what was asked before is answered. */
  async goodbye(): Promise<void> {
    // What waits leaves in parts, before the rest ends at once.
    await this.#end('goodbye', 'cancelled')
    await Promise.all([this.law.close(), this.settled()])
  }

  /** The client did not come back in time. What it holds is left to its leases. */
  abandon(end: Exclude<SessionEnd, 'goodbye'>): void {
    void this.#end(end, 'abandoned')
  }

  /** Resolves when everything that was begun is answered, apart from what waits. */
  async settled(): Promise<void> {
    if (this.#pending === 0) return
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve
    })
  }

  /** The server stops. Nothing is withdrawn because of it: clients go on with the next server. */
  stop(): void {
    this.#isOver = true
    this.#held.clear()
    this.#grace?.cancel()
  }

  async #end(end: SessionEnd, reason: CancelReason): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#grace?.cancel()
    this.#parts.onEnded(end)
    await this.#withdrawUpTo(this.#attachment, reason)
  }

  /** Give up what was asked for by this connection and those before it. */
  async #withdrawUpTo(attachment: number, reason: CancelReason): Promise<void> {
    const left = this.#held.all().filter((wait) => wait.attachment <= attachment)
    for (let first = 0; first < left.length; first += WITHDRAWN_AT_ONCE_MAX) {
      const some = left.slice(first, first + WITHDRAWN_AT_ONCE_MAX)
      await Promise.all(some.map((wait) => this.#held.withdraw(wait, reason)))
      await nextTurn()
    }
  }

  #isFull(id: number): boolean {
    if (this.#pending + this.#held.size < OPEN_REQUESTS_MAX) return false
    const message = `more than ${OPEN_REQUESTS_MAX} requests of one session are open`
    this.#fail(id, createError('LOCK_LIMIT', message))
    return true
  }

  #isInSession(command: Command): boolean {
    return (command.kind === 'acquire' || command.kind === 'begin') && command.session === this.id
  }

  /** Commands wait, in their order, until the session stands in the engine. */
  #applyAfter(opening: Promise<void>, id: number, command: Command): void {
    const attachment = this.#attachment
    void opening.then(() => {
      // On a newer connection the client asks for it again.
      if (attachment === this.#attachment && !this.#isOver) this.#apply(id, command)
    })
  }

  /** A wait that is asked for again, on a newer connection, belongs to that. */
  #takeOver(id: number, command: Command): void {
    const wait = this.#held.get(id)
    if (wait === undefined) return
    if (wait.attachment === this.#attachment) throw new ProtocolError(`the id ${id} is in use`)
    const isSame = isHeldOpen(command) && nameOfWait(command) === nameOfWait(wait.command)
    if (isSame) this.#held.drop(wait)
    else void this.#held.withdraw(wait, 'abandoned')
  }

  #apply(id: number, command: Command): void {
    const answer = this.#engine.apply<Command>(command)
    if (!(answer instanceof Promise)) this.#answer(id, command, answer)
    else if (isHeldOpen(command)) this.#wait(id, command, answer)
    else void this.#await(id, answer, (outcome) => this.#toAnswer(id, command, outcome))
  }

  #wait(id: number, command: WaitingCommand, answer: Promise<Outcome>): void {
    const wait = { key: id, engine: this.#engine, command, attachment: this.#attachment }
    this.#held.hold(wait)
    answer.then(
      (outcome) => {
        const isAttached = this.#isAttached(wait.attachment)
        // A grant that cannot be told is withdrawn unless the client asks again.
        if (!isAttached && outcome.kind === 'granted') return
        if (this.#held.drop(wait) && isAttached) this.#answer(id, command, outcome)
      },
      (error: unknown) => {
        if (!this.#held.drop(wait)) return
        if (this.#isAttached(wait.attachment)) this.#fail(id, error)
        else this.#parts.onFailure(error)
      },
    )
  }

  #isAttached(attachment: number): boolean {
    return this.#connection !== undefined && this.#attachment === attachment
  }

  #await<T>(
    id: number,
    answer: Promise<T>,
    toMessage: (value: T) => ServerMessage | undefined,
  ): Promise<void> {
    const attachment = this.#attachment
    this.#pending += 1
    return answer.then(
      (value) => {
        this.#settleOne()
        const message = this.#isAttached(attachment) ? toMessage(value) : undefined
        if (message !== undefined) this.#tell(id, message)
      },
      (error: unknown) => {
        this.#settleOne()
        if (this.#isAttached(attachment)) this.#fail(id, error)
        else this.#parts.onFailure(error)
      },
    )
  }

  #settleOne(): void {
    this.#pending -= 1
    if (this.#pending === 0) this.#onSettled?.()
  }

  #answer(id: number, command: Command, outcome: Outcome): void {
    const message = this.#toAnswer(id, command, outcome)
    if (message !== undefined) this.#tell(id, message)
  }

  #toAnswer(id: number, command: Command, outcome: Outcome): Outcome | undefined {
    const hasEnded = outcome.kind === 'refused' && outcome.code === 'no_session'
    return hasEnded && this.#isInSession(command) ? this.#askAnew(id, command, outcome) : outcome
  }

  /** The session had ended in the engine: it is opened anew, and the command asked again. */
  #askAnew(id: number, command: Command, refused: Refused): Outcome | undefined {
    const mayBegin = this.law.isOpen || this.law.opening !== undefined
    if (!mayBegin || this.#isOver) return refused
    this.law.end()
    this.#applyAfter(this.law.open(), id, command)
    return undefined
  }

  #fail(id: number, error: unknown): void {
    this.#parts.onFailure(error)
    this.#tell(id, toFailed(error))
  }

  #lose(lost: ServerMessage): void {
    this.#losses += 1
    this.#tell(0, lost)
  }

  #tell(id: number, message: ServerMessage): void {
    this.#connection?.write(id, message)
  }
}

const DONE: ServerMessage = Object.freeze({ kind: 'done' })

function replyOf(reply: unknown): ServerMessage {
  return { kind: 'reply', reply }
}
