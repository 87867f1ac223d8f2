import { assert } from './assert.ts'
import type { Force, Release, Renew } from './model/commands.ts'
import type { Decision, Draft } from './draft.ts'
import { dropStep, endWholeHold, isLastStep, renewHold, withStepsTaken } from './hold-steps.ts'
import type { Outcome, Refused, Released } from './model/outcomes.ts'
import { replayEnded } from './answers.ts'
import { moveQueue } from './queue.ts'
import type { EndedAnswer, Hold, Mode } from './model/view.ts'

/** Give up one step. With reads left under the last write this is a downgrade: no other writer is let between. */
export function release(draft: Draft, command: Release): Decision {
  return endByOwner(draft, command, { end: (hold, mode) => releaseStep(draft, hold, mode) })
}

function releaseStep(draft: Draft, hold: Hold, mode: Mode): Released {
  let left: Hold | undefined
  if (isLastStep(hold)) {
    endWholeHold(draft, hold, 'released')
  } else {
    const taken = withStepsTaken(hold)
    const step = taken.steps.findLast((one) => one.mode === mode)
    assert(step !== undefined, 'a hold has a step for each count')
    left = dropStep(draft, taken, { step, end: 'released' })
  }
  draft.tell('released', hold, { mode, token: hold.token })
  return { kind: 'released', reads: left?.reads ?? 0, writes: left?.writes ?? 0 }
}

/** What names a release, and the finish of an operation, which is one. */
type ReleaseTerms = Pick<Release, 'owner' | 'requestId' | 'token' | 'mode'>

/** How a step ends at its owner's word, and what follows from that before the queue moves. */
interface Ending {
  readonly end: (hold: Hold, mode: Mode) => Outcome & EndedAnswer
  readonly after?: (hold: Hold) => void
}

/**
 * End a step at its owner's word, and move the queue. Nothing ends where the same was asked before, or where
 * the owner does not hold it in this mode and under this token.
 */
export function endByOwner(draft: Draft, terms: ReleaseTerms, { end, after }: Ending): Decision {
  const { owner, requestId } = terms
  const ended = requestId === undefined ? undefined : draft.ended('release', owner, requestId)
  if (ended !== undefined) return draft.decided(replayEnded(ended, terms.mode))
  const hold = draft.hold(owner)
  if (hold === undefined) return refuseForGood(draft, terms, refuseNonHolder(draft, owner))
  const mode = terms.mode ?? (hold.writes > 0 ? 'write' : 'read')
  if (countOf(hold, mode) === 0) return refuseForGood(draft, terms, NOT_HOLDER)
  if (isStale(hold, terms.token)) return draft.decided(STALE_TOKEN)
  const answer = end(hold, mode)
  if (requestId !== undefined) {
    draft.remember({ verb: 'release', owner, requestId, mode, atMs: draft.nowMs, answer }, false)
  }
  after?.(hold)
  moveQueue(draft)
  return draft.decided(answer)
}

/** Make a lease later; a lease that has passed stays passed. */
export function renew(draft: Draft, command: Renew): Decision {
  const hold = draft.hold(command.owner)
  if (hold === undefined) return draft.decided(refuseNonHolder(draft, command.owner))
  if (isStale(hold, command.token)) return draft.decided(STALE_TOKEN)
  const { token, leaseAtMs } = renewHold(draft, hold, command.ttlMs)
  return draft.decided({ kind: 'renewed', token, leaseMs: leaseAtMs - draft.nowMs })
}

/**
 * Whether the refusal of a release is remembered. One that names its token ends no later hold, which has
 * another, and so there is nothing to remember.
 */
export function isRefusedForGood({
  requestId,
  token,
}: Pick<Release, 'requestId' | 'token'>): boolean {
  return requestId !== undefined && token === undefined
}

/** Refuse, and see to it that a late copy of the same release ends nothing that its owner got since. */
function refuseForGood(draft: Draft, release: ReleaseTerms, answer: NotHolder): Decision {
  const { owner, requestId, mode } = release
  if (requestId !== undefined && isRefusedForGood(release)) {
    draft.remember({ verb: 'release', owner, requestId, mode, atMs: draft.nowMs, answer }, true)
  }
  return draft.decided(answer)
}

interface NotHolder extends Refused {
  readonly code: 'not_holder'
}

const NOT_HOLDER: NotHolder = Object.freeze({ kind: 'refused', code: 'not_holder' })
const STALE_TOKEN: Refused = Object.freeze({ kind: 'refused', code: 'stale_token' })

/** Not a holder, and, where that is remembered, how it ceased to be one. */
export function refuseNonHolder(draft: Draft, owner: string): NotHolder {
  const end = draft.lastEnd(owner)
  return end === undefined ? NOT_HOLDER : { ...NOT_HOLDER, end }
}

/** A token is given, and it is not the hold's. */
function isStale(hold: Hold, token: number | undefined): boolean {
  return token !== undefined && token !== hold.token
}

function countOf(hold: Hold, mode: Mode): number {
  return mode === 'read' ? hold.reads : hold.writes
}

/** End holds by an operator's word. */
export function force(draft: Draft, command: Force): Decision {
  let count = 0
  for (const hold of [...draft.holds()]) {
    if (command.owner !== undefined && hold.owner !== command.owner) continue
    endByOthers(draft, hold, 'forced')
    count += 1
  }
  if (count > 0) moveQueue(draft)
  return draft.decided({ kind: 'forced', count })
}

/** A hold ends without its owner's doing: its operation, if it is one, has failed. */
export function endByOthers(
  draft: Draft,
  hold: Hold,
  end: 'expired' | 'disconnected' | 'forced',
): void {
  endWholeHold(draft, hold, end)
  const { token, session, operation } = hold
  const mode = hold.writes > 0 ? 'write' : 'read'
  draft.tell(end, hold, { token, mode, end, session })
  if (operation !== undefined) {
    draft.tell('completed', hold, { token, success: false, error: end })
  }
}
