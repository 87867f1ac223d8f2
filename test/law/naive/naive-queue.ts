import {
  ENDED_PER_KEY_MAX,
  JOINED_PER_STANDING_MAX,
  LANE_PASSES_MAX,
} from '../../../src/law/model/limits.ts'
import type { Granted, Outcome, RefusalCode } from '../../../src/law/model/outcomes.ts'
import type { HoldEnd, Mode } from '../../../src/law/model/view.ts'
import { forgetOld, verdictAtHead } from './naive-memory-of-success.ts'
import {
  countOf,
  holdOf,
  isFree,
  type NaiveHold,
  type NaiveMemory,
  type NaiveStep,
  type NaiveWaiter,
  naiveServingOrder,
  type Turn,
} from './naive-state.ts'

/** How holds begin and end and how the queue moves, section 4 and 5 of the law. */

export function refused(code: RefusalCode): Outcome {
  return { kind: 'refused', code }
}

export function remember(turn: Turn, memory: Omit<NaiveMemory, 'at'>): void {
  const others = turn.key.memory.filter(
    (old) => old.verb !== memory.verb || old.owner !== memory.owner || old.id !== memory.id,
  )
  const answer = withoutShown(memory.answer)
  turn.key.memory = [...others, { ...memory, answer, at: turn.now }].slice(-ENDED_PER_KEY_MAX)
}

/** A late retry is told the code again; who held or used it then is of no use to it now. */
function withoutShown(answer: Outcome): Outcome {
  if (answer.kind !== 'refused') return answer
  const { kind, code, end } = answer
  return end === undefined ? { kind, code } : { kind, code, end }
}

/** An operation that goes by its default id may begin again at any time, so its end is no answer. */
function isNameless(one: { owner: string; facts: unknown }, id: string): boolean {
  return one.facts !== undefined && one.owner === id
}

export function grantedAnswer(turn: Turn, hold: NaiveHold, mode: Mode): Granted {
  return {
    kind: 'granted',
    mode,
    token: hold.token,
    reads: countOf(hold, 'read'),
    writes: countOf(hold, 'write'),
    leaseMs: hold.lease - turn.now,
  }
}

export function extendLease(turn: Turn, hold: NaiveHold, ttl: number): void {
  hold.lease = Math.max(hold.lease, turn.now + ttl)
  hold.ttl = Math.max(hold.ttl, ttl)
}

export interface GrantRequest {
  readonly owner: string
  readonly id: string
  readonly party: string
  readonly session: string | undefined
  readonly facts: NaiveWaiter['facts']
  readonly mode: Mode
  readonly ttl: number
  readonly joined: readonly string[]
}

/** Adds a step for the request, in a new hold or in the one its owner has. */
export function grant(turn: Turn, request: GrantRequest, claimBy: number | null): Granted {
  const { owner, id, party, session, facts, mode, ttl } = request
  const step: NaiveStep = { id, mode, claimBy, oldToken: undefined, joined: request.joined }
  const standing = holdOf(turn.key, owner)
  if (standing === undefined) {
    turn.key.token += 1
    const { token } = turn.key
    const lease = turn.now + ttl
    const hold: NaiveHold = { owner, party, session, facts, token, lease, ttl, steps: [step] }
    turn.key.holds.push(hold)
    return grantedAnswer(turn, hold, mode)
  }
  const becomesWriter = mode === 'write' && countOf(standing, 'write') === 0
  if (becomesWriter) {
    turn.key.token += 1
    step.oldToken = standing.token
    standing.token = turn.key.token
  }
  standing.steps.push(step)
  extendLease(turn, standing, ttl)
  return grantedAnswer(turn, standing, mode)
}

export function leave(turn: Turn, waiter: NaiveWaiter, answer: Outcome): void {
  turn.key.queue = turn.key.queue.filter((other) => other !== waiter)
  forgetPasses(turn)
  turn.settled.push({ owner: waiter.owner, id: waiter.id, answer })
  if (answer.kind === 'granted' || (answer.kind === 'refused' && answer.code === 'limit')) return
  const { owner, mode } = waiter
  for (const id of namesOf(waiter, waiter)) {
    remember(turn, { verb: 'acquire', owner, id, mode, answer })
  }
}

/** Under which ids a request may be asked for once more. */
function namesOf(
  one: { owner: string; facts: unknown },
  { id, joined }: { readonly id: string; readonly joined: readonly string[] },
): readonly string[] {
  return isNameless(one, id) ? joined : [id, ...joined]
}

/** The newest few ids that were told of something, this one among them. */
export function join(
  standing: { readonly id: string; joined: readonly string[] },
  { owner, id }: { readonly owner: string; readonly id: string },
): void {
  if (id === owner || id === standing.id || standing.joined.includes(id)) return
  standing.joined = [...standing.joined, id].slice(-JOINED_PER_STANDING_MAX)
}

export interface StepEnd {
  readonly hold: NaiveHold
  readonly step: NaiveStep
  readonly end: HoldEnd
}

/** One step of a hold ends; with the last one the hold does, and whoever waits to upgrade leaves. */
export function endStep(turn: Turn, options: StepEnd): void {
  const { hold, step, end } = options
  const later = hold.steps[hold.steps.indexOf(step) + 1]
  hold.steps = hold.steps.filter((other) => other !== step)
  const answer: Outcome = { kind: 'refused', code: 'ended', end }
  for (const id of namesOf(hold, step)) {
    remember(turn, { verb: 'acquire', owner: hold.owner, id, mode: step.mode, answer })
  }
  const isGivenUp = end === 'cancelled' || end === 'unclaimed'
  if (isGivenUp && step.oldToken !== undefined) {
    if (later) later.oldToken = step.oldToken
    else hold.token = step.oldToken
  }
  if (hold.steps.length > 0) return
  turn.key.holds = turn.key.holds.filter((other) => other !== hold)
  for (const waiter of turn.key.queue.filter((other) => other.owner === hold.owner)) {
    leave(turn, waiter, refused('not_holder'))
  }
}

export function endHold(turn: Turn, hold: NaiveHold, end: HoldEnd): void {
  for (const step of hold.steps) endStep(turn, { hold, step, end })
}

/** A session that keeps leases makes the lease of a hold later by being heard, once that matters. */
function keepBySession(turn: Turn, hold: NaiveHold): void {
  const session = hold.session === undefined ? undefined : turn.world.sessions.get(hold.session)
  if (momentOf(hold) > turn.now || !session?.keepsLeases) return
  hold.lease = Math.max(hold.lease, session.heardAtMs + hold.ttl)
}

/** When a hold ends, or a part of it, if nothing happens until then. */
function momentOf(hold: NaiveHold): number {
  return Math.min(hold.lease, ...hold.steps.map((step) => step.claimBy ?? Infinity))
}

/**
 * Whoever is past its moment is gone, holds before waiters, each in order, and so is what was remembered
 * for long enough; then the queue moves.
 */
export function removeDue(turn: Turn): number {
  let gone = 0
  for (const hold of turn.key.holds.toSorted((one, other) => momentOf(one) - momentOf(other))) {
    keepBySession(turn, hold)
    const isExpired = hold.lease <= turn.now
    const unclaimed = hold.steps.filter((step) => step.claimBy !== null && step.claimBy <= turn.now)
    if (isExpired) endHold(turn, hold, 'expired')
    else for (const step of unclaimed) endStep(turn, { hold, step, end: 'unclaimed' })
    if (isExpired || unclaimed.length > 0) gone += 1
  }
  const byPatience = (waiter: NaiveWaiter): number => Math.min(waiter.deadline, waiter.lease)
  for (const waiter of turn.key.queue.toSorted(
    (one, other) => byPatience(one) - byPatience(other),
  )) {
    if (!turn.key.queue.includes(waiter)) continue
    const isLate = waiter.deadline <= turn.now
    const isAbandoned = waiter.lease <= turn.now
    if (isLate) leave(turn, waiter, refused('timeout'))
    else if (isAbandoned) leave(turn, waiter, refused('abandoned'))
    if (isLate || isAbandoned) gone += 1
  }
  forgetOld(turn)
  moveQueue(turn)
  return gone
}

/** Who is to be served next: an upgrader, a lane that was passed too often, the first lane. */
export function nextInLine(turn: Turn): NaiveWaiter | undefined {
  const order = naiveServingOrder(turn.key)
  const first = order[0]
  if (first === undefined || holdOf(turn.key, first.owner)) return first
  const passes = (waiter: NaiveWaiter): number => turn.key.passes[waiter.lane] ?? 0
  const passedTooOften = order.filter((waiter) => passes(waiter) >= LANE_PASSES_MAX)
  const most = Math.max(...passedTooOften.map(passes))
  const lowest = passedTooOften.findLast((waiter) => passes(waiter) === most)
  return lowest ? order.find((waiter) => waiter.lane === lowest.lane) : first
}

/** Nobody is being passed in a lane where nobody waits. */
function forgetPasses({ key }: Turn): void {
  const isWaitedIn = (lane: number): boolean =>
    key.queue.some((waiter) => waiter.lane === lane && !holdOf(key, waiter.owner))
  key.passes = key.passes.map((passes, lane) => (isWaitedIn(lane) ? passes : 0))
}

/** A grant from a lane passes every lower lane in which somebody waits. */
export function countPasses(turn: Turn, lane: number): void {
  const lanes = Math.max(1, turn.world.settings.lanes.length)
  for (let other = 0; other < lanes; other += 1) {
    const isWaiting = turn.key.queue.some((waiter) => waiter.lane === other)
    const before = turn.key.passes[other] ?? 0
    if (other === lane) turn.key.passes[other] = 0
    else turn.key.passes[other] = other > lane && isWaiting ? before + 1 : before
  }
}

function grantFromQueue(turn: Turn, waiter: NaiveWaiter): void {
  const claimBy = waiter.connected ? Infinity : turn.now + turn.world.settings.claimWindowMs
  leave(turn, waiter, grant(turn, waiter, claimBy))
}

/** While the one next in line can be granted, it is. */
export function moveQueue(turn: Turn): void {
  for (;;) {
    const waiter = nextInLine(turn)
    if (waiter === undefined) return
    if (!isFree(turn.key, waiter.owner, waiter.mode) || !hasRoom(turn, waiter.owner)) return
    const verdict = verdictAtHead(turn, waiter)
    if (verdict !== undefined) {
      leave(turn, waiter, verdict)
      continue
    }
    const isUpgrade = holdOf(turn.key, waiter.owner) !== undefined
    grantFromQueue(turn, waiter)
    if (!isUpgrade) countPasses(turn, waiter.lane)
    decideOthersAgain(turn, waiter.owner)
  }
}

/** Nobody new is let in beside as many holders as a key takes. */
export function hasRoom({ key, world }: Turn, owner: string): boolean {
  return holdOf(key, owner) !== undefined || key.holds.length < world.settings.holdersPerKeyMax
}

/** The owner holds the key now, so its other requests are re-entries or upgrades. */
export function decideOthersAgain(turn: Turn, owner: string): void {
  for (const waiter of turn.key.queue.filter((other) => other.owner === owner)) {
    const hold = holdOf(turn.key, owner)
    const isReentry = waiter.mode === 'read' || (hold && countOf(hold, 'write') > 0)
    if (isReentry || isFree(turn.key, owner, 'write')) grantFromQueue(turn, waiter)
    else if (otherUpgraders(turn, owner)) leave(turn, waiter, refused('upgrade_conflict'))
  }
  forgetPasses(turn)
}

export function otherUpgraders(turn: Turn, owner: string): boolean {
  return turn.key.queue.some((waiter) => waiter.owner !== owner && holdOf(turn.key, waiter.owner))
}
