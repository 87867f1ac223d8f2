import type { HistoryEntry } from '../../history.ts'
import type { CheckSettings } from '../check-options.ts'
import type { OperationFacts, Success } from '../operations/operation-facts.ts'
import type { LockRequest } from './requests.ts'

/** What an engine may, and what it must, remember of one resource when it decides a request. */
export class OutcomeMemory {
  readonly #successes: readonly Success[]
  readonly #settings: CheckSettings

  constructor(facts: OperationFacts, settings: CheckSettings) {
    this.#successes = facts.successes
    this.#settings = settings
  }

  /** Every success of the work that the request asks for, whenever it was. */
  ofSameWork(request: LockRequest): Success[] {
    const { type, version } = request.entries[0] as HistoryEntry
    return this.#successes.filter((success) => {
      return success.type === type && success.version === version
    })
  }

  mayRemember(success: Success, request: LockRequest): boolean {
    const { retentionMsMax, clockRateError } = this.#settings
    const forgottenAt = success.ret + retentionMsMax * (1 + clockRateError)
    if (success.call > request.answered || forgottenAt < request.earliest) return false
    return !this.#successes.some((other) => {
      return undoes(other, success) && success.ret < other.call && other.ret < request.earliest
    })
  }

  mustRemember(success: Success, request: LockRequest): boolean {
    const { retentionMs, clockRateError } = this.#settings
    const keptUntil = Math.floor(success.call) + retentionMs * (1 - clockRateError)
    if (success.ret >= request.earliest || request.answered >= keptUntil) return false
    return !this.#successes.some((other) => {
      const mayBeBetween = other.ret > success.call && other.call < request.answered
      return other !== success && mayBeBetween && mayReplace(other, success)
    })
  }
}

// A delete makes every earlier success forgotten, any other success an earlier delete.
function undoes(later: Success, earlier: Success): boolean {
  return (later.type === 'delete') !== (earlier.type === 'delete')
}

// Of one type only the last success is sure to be remembered, so one of another version replaces it.
function mayReplace(later: Success, earlier: Success): boolean {
  return undoes(later, earlier) || later.type === earlier.type
}
