import type { OpenWait, OpenWaits } from '../../../engine/waits/open-waits.ts'
import { nameOfPlace, type WaitingCommand } from '../../../engine/waits/waiting-command.ts'
import type { KeyCommand } from '../../../law/model/commands.ts'
import { ownerOf } from '../../../law/operations.ts'
import type { Outcome } from '../../../law/model/outcomes.ts'
import type { Asker } from '../snapshot/key-snapshot.ts'
import type { Notification } from './notifications.ts'
import type { KeyName } from '../sql-dialect.ts'

export interface AnswersElsewhereOptions {
  readonly process: string
  readonly waits: OpenWaits
  readonly decide: (name: KeyName, command: KeyCommand, asker?: Asker) => Promise<Outcome>
}

/**
 * What other processes on the database have decided for requests that wait here. This process hears of it
 * by notification, or by asking again where a notification was lost.
 */
export class AnswersElsewhere {
  readonly #options: AnswersElsewhereOptions

  constructor(options: AnswersElsewhereOptions) {
    this.#options = options
  }

  /**
   * A grant is safe once it was entrusted to this process: from then on it need not be claimed in time.
   * A grant for a request that no longer waits here was told already, or is being withdrawn.
   */
  async receive({ name, owner, requestId, answer }: Notification): Promise<void> {
    const { waits } = this.#options
    const place = nameOfPlace(name, { owner, requestId })
    const wait = waits.get(place)
    if (wait === undefined) return
    const isClaimed = answer.kind === 'granted' || (answer.kind === 'skip' && isPull(wait.command))
    if (isClaimed) await this.#askOnce(wait)
    else waits.settle(place, answer)
  }

  /** Asks again for every request that waits here and has left the queue without a notification. */
  async askAgain(stillQueued: ReadonlySet<string>): Promise<void> {
    const lost = this.#options.waits
      .all()
      .filter(({ name, wasQueued }) => wasQueued && !stillQueued.has(name))
    await Promise.all(lost.map((wait) => this.#askOnce(wait)))
  }

  /** What was granted to the request, or what else became of it; or it keeps its place. */
  async #askOnce({ name, command }: OpenWait): Promise<void> {
    const { waits, decide, process } = this.#options
    const keyName = keyNameOf(command)
    const asker = toAsker(command, process)
    const { owner, requestId } = asker
    const granted = await decide(keyName, { kind: 'entrust', owner, requestId })
    if (granted.kind === 'granted') return waits.settle(name, granted)
    const outcome = await decide(keyName, { ...command, waitMs: 0 }, asker)
    if (outcome.kind !== 'queued') waits.settle(name, toEndOfWait(outcome))
  }
}

/** A node whose pull is skipped uses the resource. It keeps its reference only if it asks in time. */
function isPull(command: WaitingCommand): boolean {
  return command.kind === 'begin' && command.type === 'pull'
}

export function keyNameOf(command: WaitingCommand): KeyName {
  return command.kind === 'acquire'
    ? { space: 'lock', name: command.key }
    : { space: 'operation', name: command.resource }
}

/** The place that a call is held open for, and the process that holds it open. */
export function toAsker(command: WaitingCommand, process: string | undefined): Asker {
  return command.kind === 'begin'
    ? { owner: ownerOf(command), requestId: undefined, process }
    : { owner: command.owner, requestId: command.requestId, process }
}

/** Callers have not heard of a grant that was undone meanwhile: to them it is the wait that ended. */
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
