import type { LockError } from '../../engine/errors/errors.ts'
import type { WaitingCommand } from '../../engine/waits/waiting-command.ts'
import type { Finish, Release } from '../../law/model/commands.ts'
import type { Refused } from '../../law/model/outcomes.ts'
import { RETRY_MS_MIN } from '../options/locks-limits.ts'
import { type Answered, askEngine, type Sent, sendInBackground } from '../request/ask-engine.ts'
import { callOff } from '../request/request-grant.ts'
import { Lease, type LeaseTerms } from './lease.ts'

/**
 * What a lock and an operation have in common beyond the lease: how the answer to a request is taken, and
 * how the claim is given up.
 */
export abstract class Claim<Terms extends LeaseTerms> extends Lease<Terms> {
  /** The request as it stands; sent again, it is the same request. */
  protected abstract latestRequest(): WaitingCommand
  /** What gives up the whole claim. */
  protected abstract createEnd(): Release | Finish
  /** Give it up, at the end of a block. Never rejects. */
  abstract [Symbol.asyncDispose](): Promise<void>

  /**
   * Take the answer to what was asked: a grant begins the lease, anything else ends this. Until then a close
   * reaches it in the schedule.
   */
  protected async conclude<C extends WaitingCommand>(
    asking: Promise<Answered<C>>,
  ): Promise<Answered<C>['outcome']> {
    this.context.schedule.park(this)
    let answered: Answered<C>
    try {
      answered = await asking
    } catch (error) {
      this.end()
      throw error
    }
    const { outcome, sentAtMs } = answered
    if (outcome.kind !== 'granted') {
      this.end()
      return outcome
    }
    this.begin(outcome, sentAtMs, this.context.clock.nowMs())
    if (!this.context.isClosed) return outcome
    await this[Symbol.asyncDispose]()
    throw this.context.closedError()
  }

  /** Send what ends a claim until it is answered. */
  protected async sendEnd<C extends Release | Finish>(
    command: C,
    first?: Sent<C>,
  ): Promise<Answered<C>> {
    const untilMs = this.context.clock.nowMs() + RETRY_MS_MIN
    try {
      return await askEngine(this.context, { command: () => command, untilMs, first })
    } catch (error) {
      // A lease is over soon; its session would keep it for ever.
      if (this.isInSession) this.giveBack()
      throw error
    }
  }

  protected callOff(): void {
    void callOff(this.context, this.latestRequest())
  }

  protected giveBack(): void {
    void sendInBackground(this.context, this.createEnd())
  }

  /** The error of what was refused, as in `acquire` the write lock. */
  protected errorOf(refused: Refused, verb: string, waitedMs?: number): LockError {
    const { what, key } = this.describe()
    return this.context.refusalError(refused, { what: `${verb} ${what}`, key, waitedMs })
  }
}
