import { toAborted, toClosed } from '../../engine/engine-errors.ts'
import type { KeyCommand } from '../../law/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Granted, Outcome } from '../../law/outcomes.ts'
import {
  isUpgraded,
  nameOfPlace,
  nameOfWait,
  toWithdrawal,
  type WaitingCommand,
} from '../../law/waiting.ts'
import type { Clock } from '../../time/clock.ts'
import type { Asker, Departure } from './key-snapshot.ts'
import type { Letter } from './letters.ts'
import { OpenCall, OpenWait } from './open-wait.ts'
import type { KeyName } from './sql-dialect.ts'

export interface OpenWaitsOptions {
  readonly process: string
  readonly clock: Clock
  readonly decide: (name: KeyName, command: KeyCommand, asker?: Asker) => Promise<Outcome>
  /** The request id and the position of an operation's place, if it has one. */
  readonly findPlace: (
    name: KeyName,
    owner: string,
  ) => Promise<{ readonly requestId: string; readonly position: number } | undefined>
  /** Told how many waits are open, whenever that changes. */
  readonly onCount: (count: number) => void
}

/**
 * The calls that this process holds open while their requests wait. Most are settled by a transaction of
 * this process; of the others it hears by letter.
 */
export class OpenWaits {
  readonly #options: OpenWaitsOptions
  readonly #waits = new Map<string, OpenWait>()
  /** Nobody waits any more, and what they may have been given is being taken back. */
  readonly #leaving = new Map<string, OpenWait>()

  constructor(options: OpenWaitsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waits.size
  }

  /** Ask, and stay until the request is settled. */
  ask(command: WaitingCommand, signal: AbortSignal | undefined): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const call = new OpenCall(resolve, reject)
      const wait = this.#join(command, call)
      if (signal !== undefined) call.listen(signal, () => void this.#abort(wait, call, signal))
      call.asking = this.#ask(wait, call, command)
    })
  }

  #join(command: WaitingCommand, call: OpenCall): OpenWait {
    const name = nameOfWait(command)
    let wait = this.#waits.get(name)
    if (wait === undefined) {
      wait = new OpenWait(name, command)
      this.#waits.set(name, wait)
      this.#options.onCount(this.#waits.size)
    }
    wait.calls.add(call)
    return wait
  }

  async #ask(wait: OpenWait, call: OpenCall, command: WaitingCommand): Promise<void> {
    try {
      const asker = this.#askerOf(command)
      const outcome = await this.#options.decide(wait.keyName, command, asker)
      if (outcome.kind !== 'queued') return this.#answer(wait, call, outcome)
      wait.wasQueued = true
      this.#startTimer(wait, call, command)
    } catch (error) {
      call.reject(error)
      this.#leave(wait, call)
    }
  }

  #askerOf(command: WaitingCommand): Asker {
    const { process } = this.#options
    if (command.kind === 'begin') return { owner: ownerOf(command), requestId: undefined, process }
    return { owner: command.owner, requestId: command.requestId, process }
  }

  #answer(wait: OpenWait, call: OpenCall, outcome: Outcome): void {
    const isGranted = outcome.kind === 'granted'
    if (isGranted && isUpgraded(wait.command, outcome)) call.resolveAnyway(outcome)
    else if (isGranted && call.isAborted) wait.undo(() => this.#giveBack(wait, outcome))
    else call.resolve(outcome)
    this.#leave(wait, call)
  }

  /** A waiting `begin` is answered `queued` after its time; the law ends an `acquire` by itself. */
  #startTimer(wait: OpenWait, call: OpenCall, command: WaitingCommand): void {
    if (command.kind !== 'begin' || call.isOver || command.waitMs === Infinity) return
    const timer = this.#options.clock.setTimer(command.waitMs ?? 0, () => {
      void this.#answerDue(wait, call)
    })
    call.onOver(() => timer.cancel())
  }

  /** It keeps its place; if nobody else holds a call open for it, it only asks now and then from here on. */
  async #answerDue(wait: OpenWait, call: OpenCall): Promise<void> {
    try {
      const { owner, keyName } = wait
      const place = await this.#options.findPlace(keyName, owner)
      if (place === undefined || call.isOver) return
      const { requestId } = place
      const isLast = wait.calls.size === 1
      const hangUp = { kind: 'hang-up', owner, requestId } as const
      const asker = { owner, requestId, process: undefined }
      const outcome = isLast ? await this.#options.decide(keyName, hangUp, asker) : undefined
      if (call.isOver || outcome?.kind === 'refused') return
      call.resolve(outcome ?? { kind: 'queued', position: place.position })
    } catch (error) {
      call.reject(error)
    } finally {
      if (call.isOver) this.#leave(wait, call)
    }
  }

  /** A transaction of this process has settled a request. */
  settle(name: KeyName, { waiter, answer }: Departure): void {
    const waitName = nameOfPlace(name, waiter)
    const wait = this.#waits.get(waitName) ?? this.#leaving.get(waitName)
    if (wait !== undefined) this.#deliver(wait, answer)
  }

  #deliver(wait: OpenWait, answer: Outcome): void {
    // Only from who is leaving: a wait that is over may be told of its grant once more, and has it.
    if (answer.kind === 'granted' && this.#leaving.get(wait.name) === wait) {
      wait.undo(() => this.#giveBack(wait, answer))
      return
    }
    for (const call of wait.calls) call.resolve(answer)
    this.#forget(wait)
  }

  /**
   * Another process has settled a request. A grant is in good hands once it was entrusted to this one. It may
   * have been before the letter was read, because somebody asked again: then it was told.
   */
  async receive({ name, owner, requestId, answer }: Letter): Promise<void> {
    const wait = this.#waits.get(nameOfPlace(name, { owner, requestId }))
    if (answer.kind === 'granted') {
      if (wait === undefined)
        await this.#options.decide(name, { kind: 'decline', owner, requestId })
      else await this.#askOnce(wait)
    } else if (wait !== undefined) {
      if (answer.kind === 'skip' && isPull(wait.command)) await this.#askOnce(wait)
      else this.#deliver(wait, answer)
    }
  }

  /** What was granted to the request, or what else became of it; or it keeps its place. */
  async #askOnce(wait: OpenWait): Promise<void> {
    const { command, keyName, owner } = wait
    const asker = this.#askerOf(command)
    const { requestId } = asker
    const granted = await this.#options.decide(keyName, { kind: 'entrust', owner, requestId })
    if (granted.kind === 'granted') return this.#deliver(wait, granted)
    const outcome = await this.#options.decide(keyName, { ...command, waitMs: 0 }, asker)
    if (outcome.kind !== 'queued') this.#deliver(wait, toEndOfWait(outcome))
  }

  /**
   * Ask again for everything that nothing was heard of: a letter may be lost with a process that died
   * before it could write it.
   */
  async askAgain(stillQueued: ReadonlySet<string>): Promise<void> {
    const lost = [...this.#waits.values()].filter(
      ({ name, wasQueued }) => wasQueued && !stillQueued.has(name),
    )
    await Promise.all(lost.map((wait) => this.#askOnce(wait)))
  }

  async #abort(wait: OpenWait, call: OpenCall, signal: AbortSignal): Promise<void> {
    if (call.isOver) return
    call.isAborted = true
    const error = toAborted(wait.command, signal)
    if (!wait.isAwaited) {
      this.#forget(wait)
      this.#leaving.set(wait.name, wait)
      try {
        await this.#options.decide(wait.keyName, toWithdrawal(wait.command))
        await call.asking
        await wait.undoing
      } catch (cause) {
        call.reject(cause)
      } finally {
        if (this.#leaving.get(wait.name) === wait) this.#leaving.delete(wait.name)
      }
    }
    call.reject(error)
    this.#leave(wait, call)
  }

  /** It was granted to somebody who had given up: it counts as taken, and so it is released. */
  async #giveBack({ command, keyName, owner }: OpenWait, { token }: Granted): Promise<void> {
    const back: KeyCommand =
      command.kind === 'acquire'
        ? { kind: 'release', key: keyName.name, owner, mode: command.mode ?? 'write', token }
        : { ...command, kind: 'finish', requestId: undefined, success: false, token }
    await this.#options.decide(keyName, back)
  }

  #leave(wait: OpenWait, call: OpenCall): void {
    wait.calls.delete(call)
    if (wait.calls.size === 0) this.#forget(wait)
  }

  #forget(wait: OpenWait): void {
    if (this.#waits.get(wait.name) !== wait) return
    this.#waits.delete(wait.name)
    this.#options.onCount(this.#waits.size)
  }

  rejectAll(): void {
    for (const wait of [...this.#waits.values()]) {
      for (const call of wait.calls) call.reject(toClosed())
      this.#forget(wait)
    }
  }
}

/** A node whose pull is skipped uses the resource. It keeps its reference only if it asks in time. */
function isPull(command: WaitingCommand): boolean {
  return command.kind === 'begin' && command.type === 'pull'
}

/** Whoever waits has not heard of a grant that was undone meanwhile: to them it is the wait that ended. */
function toEndOfWait(outcome: Outcome): Outcome {
  if (outcome.kind !== 'refused' || outcome.code !== 'ended') return outcome
  switch (outcome.end) {
    case 'cancelled':
    case 'disconnected':
      return { kind: 'refused', code: outcome.end }
    case 'unclaimed':
      return { kind: 'refused', code: 'abandoned' }
    default:
      return outcome
  }
}
