import type { Decision } from '../../../src/law/decide.ts'
import { ENDED_REMEMBERED_MS, LANE_PASSES_MAX } from '../../../src/law/model/limits.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { Hold, Waiter } from '../../../src/law/model/view.ts'
import { applyChanges } from './apply-changes.ts'
import { type KeyState, servingOrder } from './plain-view.ts'

/** What must always be true (section 7 of the law), told of one step: before, decision, after. */
export interface StepTaken {
  readonly nowMs: number
  readonly before: KeyState
  readonly decision: Decision
  readonly after: KeyState
  readonly settings: LawSettings
}

/** Every broken promise in plain words; nothing if all is well. */
export function brokenPromises(step: StepTaken): readonly string[] {
  return [
    ...exclusion(step.after),
    ...tokens(step),
    ...arrivalOrder(step),
    ...grantableHead(step.after, step.settings),
    ...bounds(step.after, step.settings),
    ...counts(step.after),
    ...upgrades(step),
    ...references(step),
    ...endedRequests(step),
  ]
}

function exclusion({ holds }: KeyState): string[] {
  const writers = holds.filter((hold) => hold.writes > 0)
  return writers.length > 0 && holds.length > 1 ? ['a writer is not alone'] : []
}

/**
 * A new hold and a new writer get a larger token than any before; every other hold keeps its own. One
 * whose upgrade is undone unheard goes back to the one that it had.
 */
function tokens({ before, decision, after }: StepTaken): string[] {
  const broken: string[] = []
  let last = before.token
  const known = new Map(before.holds.map((hold) => [hold.owner, hold]))
  for (const change of decision.changes) {
    if (change.kind === 'hold-ended') known.delete(change.hold.owner)
    if (change.kind !== 'hold-set') continue
    const { hold } = change
    const standing = known.get(hold.owner)
    const isNew = standing === undefined || (standing.writes === 0 && hold.writes > 0)
    if (isNew && hold.token <= last) broken.push(`token ${hold.token} does not grow`)
    if (!isNew && hold.token !== standing.token && !isUndone(standing, hold)) {
      broken.push(`${hold.owner} changed its token`)
    }
    last = Math.max(last, hold.token)
    known.set(hold.owner, hold)
  }
  if (after.token < before.token) broken.push('the key lost its token')
  return broken
}

/** A writer became the reader that it was before, because its request to write was given up. */
function isUndone(standing: Hold, hold: Hold): boolean {
  return hold.writes === 0 && standing.steps.some(({ tokenBefore }) => tokenBefore === hold.token)
}

/** Grants to waiters whose owner held nothing at that moment, in order: the queue's own choices. */
function choicesOfQueue({ before, decision }: StepTaken): Waiter[] {
  const holders = new Set(before.holds.map((hold) => hold.owner))
  const chosen: Waiter[] = []
  let granted: string | undefined
  for (const change of decision.changes) {
    if (change.kind === 'hold-ended') holders.delete(change.hold.owner)
    if (change.kind === 'hold-set') {
      const { owner } = change.hold
      granted = holders.has(owner) ? undefined : owner
      holders.add(owner)
    }
    if (change.kind !== 'waiter-gone' || change.answer.kind !== 'granted') continue
    if (change.waiter.owner === granted) chosen.push(change.waiter)
    granted = undefined
  }
  return chosen
}

/**
 * Nobody is granted while an earlier waiter of the same lane goes on waiting, nor before an earlier one
 * that is granted in the same step. Re-entries of an owner that was granted in its turn are free.
 */
function arrivalOrder(step: StepTaken): string[] {
  const chosen = choicesOfQueue(step)
  return chosen.flatMap((waiter, index) => {
    const lane = step.before.waiters.filter((other) => other.lane === waiter.lane)
    const ahead = lane.slice(
      0,
      lane.findIndex((other) => isSame(other, waiter)),
    )
    const waiting = step.after.waiters.filter((other) => !other.upgrade && !isNew(step, other))
    const passed = [...waiting, ...chosen.slice(index + 1)]
    return ahead
      .filter((other) => passed.some((one) => isSame(one, other)))
      .map((other) => `${waiter.owner} passed ${other.owner}`)
  })
}

/** It joined in this step, perhaps after its earlier request had left. */
function isNew({ decision }: StepTaken, waiter: Waiter): boolean {
  return decision.changes.some(
    (change) => change.kind === 'waiter-added' && isSame(change.waiter, waiter),
  )
}

function isSame(left: Waiter, right: Waiter): boolean {
  return left.owner === right.owner && left.requestId === right.requestId
}

function isGrantable(waiter: Waiter, holds: readonly Hold[]): boolean {
  const others = holds.filter((hold) => hold.owner !== waiter.owner)
  return waiter.mode === 'write' ? others.length === 0 : others.every((hold) => hold.writes === 0)
}

/** The head of the lane that was passed most often, the lowest of several, if that is too often. */
function mostPassed(order: readonly Waiter[], passes: readonly number[]): Waiter | undefined {
  const of = (waiter: Waiter): number => passes[waiter.lane] ?? 0
  const most = Math.max(LANE_PASSES_MAX, ...order.map(of))
  const lowest = order.findLast((waiter) => of(waiter) === most)
  return lowest && order.find((waiter) => waiter.lane === lowest.lane)
}

/** Of the heads of all lanes, the one whose turn it is cannot be granted. */
function grantableHead(
  { holds, waiters, passes }: KeyState,
  { holdersPerKeyMax }: LawSettings,
): string[] {
  const order = servingOrder(waiters)
  const upgrader = order.find((waiter) => waiter.upgrade)
  const overdue = mostPassed(order, passes)
  const head = upgrader ?? overdue ?? order[0]
  const hasRoom = upgrader !== undefined || holds.length < holdersPerKeyMax
  return head && hasRoom && isGrantable(head, holds)
    ? [`${head.owner} could be granted and is not`]
    : []
}

/** An operation that ran while others came to use its resource is counted beside them. */
function bounds({ holds, waiters, references }: KeyState, settings: LawSettings): string[] {
  const { holdersPerKeyMax, waitersPerKeyMax, referencesPerResourceMax } = settings
  return [
    ...(holds.length > holdersPerKeyMax ? ['too many hold it'] : []),
    ...(waiters.length > waitersPerKeyMax ? ['too many wait for it'] : []),
    ...(references.length > referencesPerResourceMax + 1 ? ['too many use it'] : []),
  ]
}

function counts({ holds, waiters }: KeyState): string[] {
  const wrong = holds.filter(
    (hold) =>
      hold.reads < 0 ||
      hold.writes < 0 ||
      hold.reads + hold.writes === 0 ||
      hold.reads + hold.writes !== hold.steps.length,
  )
  const upgraders = waiters.filter((waiter) => waiter.upgrade)
  const homeless = upgraders.filter(
    (waiter) => !holds.some((hold) => hold.owner === waiter.owner && hold.reads > 0),
  )
  const stuck = waiters.filter(
    (waiter) => !waiter.upgrade && holds.some((hold) => hold.owner === waiter.owner),
  )
  return [
    ...wrong.map((hold) => `${hold.owner} counts r${hold.reads} w${hold.writes}`),
    ...homeless.map((waiter) => `${waiter.owner} waits to upgrade without reading`),
    ...stuck.map((waiter) => `${waiter.owner} waits behind itself`),
    ...(new Set(upgraders.map((waiter) => waiter.owner)).size > 1 ? ['two upgraders wait'] : []),
  ]
}

/** Whoever passes from reading to writing is the only holder at that moment. */
function upgrades({ before, decision }: StepTaken): string[] {
  const broken: string[] = []
  const holds = new Map(before.holds.map((hold) => [hold.owner, hold]))
  for (const change of decision.changes) {
    if (change.kind === 'hold-ended') holds.delete(change.hold.owner)
    if (change.kind !== 'hold-set') continue
    const { hold } = change
    const was = holds.get(hold.owner)
    if (was?.writes === 0 && hold.writes > 0 && holds.size > 1) {
      broken.push(`${hold.owner} upgraded beside another`)
    }
    holds.set(hold.owner, hold)
  }
  return broken
}

function references(step: StepTaken): string[] {
  const nodes = step.after.references.map(({ node }) => node)
  return [
    ...(new Set(nodes).size === nodes.length ? [] : ['a node counts twice']),
    ...(statesOnTheWay(step).some(isDeletedInUse) ? ['a delete runs in use'] : []),
  ]
}

/** One step may end a delete and then count a node, so the key is looked at after every change. */
function statesOnTheWay({ before, decision }: StepTaken): KeyState[] {
  let state = before
  return decision.changes.map((change) => {
    state = applyChanges(state, [change])
    return state
  })
}

function isDeletedInUse({ holds, references: nodes }: KeyState): boolean {
  return nodes.length > 0 && holds.some((hold) => hold.operation?.type === 'delete')
}

/**
 * No request that was answered for good holds or waits for as long as its end is remembered. What it
 * shared with a request that has not ended belongs to the latter.
 */
function endedRequests({ nowMs, after }: StepTaken): string[] {
  const { holds, waiters } = after
  const ended = after.ended.filter(
    (entry) => entry.verb === 'acquire' && entry.atMs + ENDED_REMEMBERED_MS > nowMs,
  )
  const standings = [
    ...waiters.map((waiter) => ({ owner: waiter.owner, standing: waiter })),
    ...holds.flatMap(({ owner, steps }) => steps.map((step) => ({ owner, standing: step }))),
  ]
  return standings
    .filter(({ owner, standing: { requestId, joined = [] } }) =>
      [requestId, ...joined].every((name) =>
        ended.some((entry) => entry.owner === owner && entry.requestId === name),
      ),
    )
    .map(({ owner, standing }) => `${owner}/${standing.requestId} has ended and lives`)
}
