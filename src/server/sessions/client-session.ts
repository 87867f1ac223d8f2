import type { LockEngine, WatchEvent, WatchFilter } from '../../engine/engine.ts'
import type { Query } from '../../engine/queries.ts'
import type { CancelReason, Command } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import { writeOutcome } from '../../protocol/session/outcome-codec.ts'
import { writeDone, writeLost, writeOver } from '../../protocol/session/server-frames.ts'
import type { Timer } from '../../time/clock.ts'
import type { PrincipalView } from '../access/principal-view.ts'
import type { Count } from '../metrics/counts.ts'
import type { SessionEnd } from '../metrics/session-metrics.ts'
import { withdraw } from '../waiting/withdraw.ts'
import { AnswerWriter } from './answer-writer.ts'
import { LawSession } from './law-session.ts'
import { OpenRequests } from './open-requests.ts'
import { Outbox } from './outbox.ts'
import type { SessionConnection } from './session-connection.ts'
import { SessionWatches } from './session-watches.ts'
import { WaitingRequests } from './waiting-requests.ts'

export interface ClientSessionParts {
  readonly id: string
  /** The engine as the client's principal may use it. */
  readonly engine: LockEngine
  readonly view: PrincipalView
  readonly graceMs: number
  /** Runs something when the grace of a broken connection has passed. */
  readonly setTimer: (onOver: () => void) => Timer
  /** Counts what is asked for. */
  readonly requests: Count
  /** Counts a watch, or throws where there are too many; returns how to say that it is over. */
  readonly takeWatch: () => () => void
  /** Told of every error that becomes an answer, or keeps one from being given. */
  readonly onFailure: (error: unknown) => void
  /** Told once, when nobody can come back to it any more. */
  readonly onEnded: (end: SessionEnd) => void
}

/**
 * One client, across all of its connections: what it has asked for, what it has been told, what it holds.
 *
 * Requests are numbered by the client and done once, in their order; answers are kept until the client
 * has confirmed them. So a connection that breaks costs a client that comes back in time nothing.
 */
export class ClientSession {
  readonly id: string
  readonly law: LawSession
  /** When something was last received, on the clock of the sockets. */
  heardAtMs = 0
  /** Whether something was received that the engine has not been told of. */
  isTouchDue = false
  /** Whether its client has said anything since it was welcomed: only then has it heard the welcome. */
  isMet = false
  readonly pulses: Set<SessionConnection> = new Set()
  readonly #parts: ClientSessionParts
  readonly #engine: LockEngine
  readonly #outbox = new Outbox()
  readonly #answers: AnswerWriter
  readonly #requests: OpenRequests
  readonly #waiting: WaitingRequests
  readonly #watches: SessionWatches
  /** Requests that came while the session was being opened in the engine; they keep their order. */
  #gate: (() => void)[] | undefined
  #connection: SessionConnection | undefined
  #grace: Timer | undefined
  /** The frame that says that the session has ended in the engine, while nobody has confirmed it. */
  #overFrame = 0
  #onEndHeard: (() => void) | undefined
  #isOver = false
  #isStopped = false

  constructor(parts: ClientSessionParts) {
    const { id, engine, graceMs, onFailure } = parts
    this.id = id
    this.#parts = parts
    this.#engine = engine
    this.#answers = new AnswerWriter(this.#outbox, onFailure)
    this.#waiting = new WaitingRequests(engine)
    this.#requests = new OpenRequests({
      asked: parts.requests,
      countWaiting: () => this.#waiting.size,
      onTooMany: (one, error) => this.#fail(one, error),
    })
    this.#watches = new SessionWatches(engine, this.#outbox, parts.takeWatch)
    const onOver = (): void => this.#tellOver()
    this.law = new LawSession({ engine, session: id, graceMs, onOver, onFailure })
  }

  get lastId(): number {
    return this.#requests.lastId
  }

  /** Nobody can come to it any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  get keptBytes(): number {
    return this.#outbox.keptBytes
  }

  get connection(): SessionConnection | undefined {
    return this.#connection
  }

  /** The client is here. An older connection of it, if it is still open, means nothing any more. */
  attach(connection: SessionConnection, received: number): void {
    this.#grace?.cancel()
    this.#grace = undefined
    this.#connection?.supersede()
    this.#connection = connection
    this.#noteHeard(received)
    this.#outbox.attach(connection, received)
  }

  /** The late close of an older connection is no news. */
  detach(connection: SessionConnection): void {
    this.pulses.delete(connection)
    if (this.#connection !== connection || this.#isOver) return
    this.#connection = undefined
    this.#outbox.detach()
    this.#startGrace()
  }

  /** Its client was gone before it could be welcomed. */
  leaveAlone(): void {
    if (this.#connection === undefined && this.#grace === undefined && !this.#isOver) {
      this.#startGrace()
    }
  }

  /**
   * The client may not know yet that everything it held here has ended. It is told so by its main
   * connection; until it says that it has heard, nobody may vouch for it on another, which is faster.
   */
  get isEndUnheard(): boolean {
    return this.#overFrame > 0 || !this.isMet
  }

  #tellOver(): void {
    writeOver(this.#outbox.open())
    this.#overFrame = this.#outbox.presentNumber
  }

  #noteHeard(frame: number): void {
    if (frame < this.#overFrame) return
    this.#overFrame = 0
    this.#onEndHeard?.()
  }

  confirm(frame: number): void {
    this.#noteHeard(frame)
    this.#outbox.confirm(frame)
    this.#watches.catchUp()
  }

  /** What has arrived is about to be done; its answers leave together, when all of it is. */
  onReading(): void {
    this.#outbox.isHeldBack = true
  }

  /**
   * Everything that had arrived was done. Whoever waits here may have been granted something by it, and
   * is about to be told so by a promise: that leaves in the same frame.
   */
  onRead(): void {
    this.#outbox.isHeldBack = false
    if (this.#waiting.size === 0) this.#outbox.flush()
    else this.#outbox.flushLater()
  }

  command(id: number, command: Command, mayAbort: boolean): void {
    if (!this.#requests.take(id)) return
    const isEarly = this.#gate !== undefined || (!this.law.isOpen && this.#isInSession(command))
    if (isEarly) this.#gateOpening().push(() => this.#run(id, command, mayAbort))
    else this.#run(id, command, mayAbort)
  }

  abort(id: number): void {
    if (this.#gate === undefined) this.#waiting.abort(id)
    else this.#gate.push(() => this.#waiting.abort(id))
  }

  read(id: number, query: Query): void {
    if (!this.#requests.take(id)) return
    const run = (): void => {
      this.#engine.read(query).then(
        (reply) => {
          this.#requests.closeOne()
          if (!this.#isOver) this.#answers.reply(id, reply)
        },
        (error: unknown) => this.#fail(id, error),
      )
    }
    if (this.#gate === undefined) run()
    else this.#gate.push(run)
  }

  watch(id: number, filter: WatchFilter): void {
    if (this.#requests.take(id)) this.#finish(id, this.#watches.open(id, filter))
  }

  unwatch(id: number, watch: number): void {
    if (this.#requests.take(id)) this.#finish(id, this.#watches.close(watch))
  }

  /** An event about a hold that was taken in this session. */
  onEvent(event: Exclude<WatchEvent, { kind: 'reset' }>): void {
    const { namespace, key, owner, token = 0, end } = event
    if (this.#isOver || end === undefined) return
    if (end === 'disconnected') return this.law.end()
    const shown = this.#parts.view.toShownOwner(owner, namespace)
    writeLost(this.#outbox.open(), { namespace, key, owner: shown, token, end })
  }

  /** A spoken good-bye. Resolves when nothing is held or waited for in it. */
  async goodbye(): Promise<void> {
    const wasOpen = this.law.isOpen
    await Promise.all([this.#end('goodbye'), wasOpen ? this.law.close() : undefined])
  }

  /** Nobody came back in time. What it held ends in the engine, by the same silence. */
  abandon(end: 'gone' | 'silent'): void {
    void this.#end(end)
  }

  /** The server is about to stop. Resolves when what it has begun is answered, apart from those who wait. */
  windUp(): Promise<void> {
    return this.#requests.windUp()
  }

  /** The server stops: nobody is cancelled because of it, and clients ask the next one. */
  stop(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isStopped = true
    this.#grace?.cancel()
    this.#watches.closeAll()
    this.#outbox.close('silence')
  }

  async #end(end: SessionEnd): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#grace?.cancel()
    this.#watches.closeAll()
    this.#parts.onEnded(end)
    const reason: CancelReason = end === 'goodbye' ? 'cancelled' : 'abandoned'
    const unheard = this.#outbox.close(end === 'goodbye' ? 'goodbye' : 'silence')
    await Promise.all([
      this.#waiting.withdrawAll(reason),
      ...unheard.map((command) => withdraw(this.#engine, command, 'abandoned')),
    ])
  }

  #startGrace(): void {
    this.#grace = this.#parts.setTimer(() => {
      // Its main thread may be blocked for a while; somebody vouches for it meanwhile.
      if (this.pulses.size > 0) this.#startGrace()
      else this.abandon('gone')
    })
  }

  #isInSession(command: Command): boolean {
    return (command.kind === 'acquire' || command.kind === 'begin') && command.session === this.id
  }

  /** Where requests wait, in their order, until the session stands in the engine. */
  #gateOpening(): (() => void)[] {
    if (this.#gate !== undefined) return this.#gate
    const gate: (() => void)[] = []
    this.#gate = gate
    void this.#begin().then(() => {
      this.#gate = undefined
      for (const run of gate) run()
    })
    return gate
  }

  /**
   * A session that has ended does not begin anew before its client has heard of the end. Should that news
   * get lost with this server, the next one would take the new session for the one that the client knows.
   */
  async #begin(): Promise<void> {
    await this.law.settled()
    if (this.isEndUnheard) {
      await new Promise<void>((resolve) => {
        this.#onEndHeard = resolve
      })
    }
    await this.law.ready()
  }

  #run(id: number, command: Command, mayAbort: boolean): void {
    const isWaited = isHeldOpen(command)
    const controller = isWaited && mayAbort ? new AbortController() : undefined
    const options = controller === undefined ? undefined : { signal: controller.signal }
    const answer = this.#engine.apply<Command>(command, options)
    if (!(answer instanceof Promise)) return this.#settle(id, command, answer)
    if (isWaited) {
      this.#waiting.add({ id, command, controller })
      this.#requests.look()
    }
    answer.then(
      (outcome) => {
        this.#waiting.delete(id)
        this.#settle(id, command, outcome)
      },
      (error: unknown) => {
        this.#waiting.delete(id)
        this.#fail(id, error)
      },
    )
  }

  #settle(id: number, command: Command, outcome: Outcome): void {
    if (outcome.kind === 'refused' && outcome.code === 'no_session' && this.#isInSession(command)) {
      if (!this.#isOver) return this.#askAnew(id, command)
    }
    this.#requests.closeOne()
    const isWaited = isHeldOpen(command)
    if (this.#isOver) {
      // After a stop of the server the client comes back for it with the same request.
      const isNobodys = isWaited && outcome.kind === 'granted' && !this.#isStopped
      if (isNobodys) void withdraw(this.#engine, command, 'abandoned')
      return
    }
    writeOutcome(this.#outbox.open(), id, outcome)
    if (isWaited && outcome.kind === 'granted') this.#outbox.noteGrant(command)
  }

  /** The session had ended in the engine before anyone noticed. The client is told, and asked for again. */
  #askAnew(id: number, command: Command): void {
    this.law.end()
    this.#gateOpening().push(() => this.#run(id, command, false))
  }

  #finish(id: number, done: Promise<void>): void {
    done.then(
      () => {
        this.#requests.closeOne()
        if (!this.#isOver) writeDone(this.#outbox.open(), id)
      },
      (error: unknown) => this.#fail(id, error),
    )
  }

  #fail(id: number, error: unknown): void {
    this.#parts.onFailure(error)
    this.#requests.closeOne()
    if (!this.#isOver) this.#answers.fail(id, error)
  }
}
