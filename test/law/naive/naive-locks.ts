import type { Acquire, Cancel, Release, Renew } from '../../../src/law/model/commands.ts'
import { ENDED_REMEMBERED_MS, STEPS_PER_HOLD_MAX } from '../../../src/law/model/limits.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import type { Mode, Verb } from '../../../src/law/model/view.ts'
import { findCycle } from './naive-cycle.ts'
import {
  countPasses,
  decideOthersAgain,
  endStep,
  extendLease,
  grant,
  grantedAnswer,
  hasRoom,
  leave,
  moveQueue,
  nextInLine,
  otherUpgraders,
  refused,
  remember,
} from './naive-queue.ts'
import {
  countOf,
  holdOf,
  isFree,
  type NaiveHold,
  type NaiveKey,
  type NaiveWaiter,
  naiveServingOrder,
  type Turn,
} from './naive-state.ts'

/** acquire, release, renew and cancel: sections 2 and 3 of the law. */

type Standing = { readonly id: string; readonly joined: readonly string[] }

interface RequestName {
  readonly verb: Verb
  readonly owner: string
  readonly id: string
}

export function recall(turn: Turn, name: RequestName): NaiveKey['memory'][number] | undefined {
  return turn.key.memory.find(
    (memory) =>
      memory.verb === name.verb &&
      memory.owner === name.owner &&
      memory.id === name.id &&
      memory.at + ENDED_REMEMBERED_MS > turn.now,
  )
}

export function takeAll(hold: NaiveHold): void {
  for (const step of hold.steps) step.claimBy = null
}

export function positionAnswer(turn: Turn, waiter: NaiveWaiter): Outcome {
  return { kind: 'queued', position: naiveServingOrder(turn.key).indexOf(waiter) + 1 }
}

function laneOf(turn: Turn, name: string | undefined): number {
  const { lanes } = turn.world.settings
  const index = name === undefined ? -1 : lanes.indexOf(name)
  return index >= 0 ? index : Math.max(0, lanes.length - 1)
}

function toWaiter(turn: Turn, command: Acquire): NaiveWaiter {
  const { settings } = turn.world
  const connected = command.detach !== true || command.session !== undefined
  return {
    owner: command.owner,
    id: command.requestId,
    party: command.party ?? command.owner,
    session: command.session,
    facts: undefined,
    mode: command.mode ?? 'write',
    lane: laneOf(turn, command.lane),
    ttl: command.ttlMs ?? settings.lockTtlMs,
    connected,
    deadline: turn.now + (command.waitMs ?? 0),
    lease: patienceOf(turn, { connected, session: command.session }),
    joined: [],
  }
}

/** How long a place is kept without a sign; a session answers for its own. */
export function patienceOf(turn: Turn, waiter: Pick<NaiveWaiter, 'connected' | 'session'>): number {
  const { openPatienceMs, waiterPatienceMs } = turn.world.settings
  if (waiter.session !== undefined) return Infinity
  return turn.now + (waiter.connected ? openPatienceMs : waiterPatienceMs)
}

export function acquire(turn: Turn, command: Acquire): Outcome {
  const request = toWaiter(turn, command)
  const { waitMs = 0, session } = command
  const known = askedBefore(turn, request, command)
  if (known) return known
  const hasNoSession = session !== undefined && !turn.world.sessions.has(session)
  return hasNoSession ? refused('no_session') : askAnew(turn, request, waitMs)
}

/** Rule 4: the same request has one standing, and one end. */
function askedBefore(turn: Turn, request: NaiveWaiter, command: Acquire): Outcome | undefined {
  const { owner, id, mode } = request
  const { waitMs = 0 } = command
  const memory = recall(turn, { verb: 'acquire', owner, id })
  if (memory) {
    return memory.mode === undefined || memory.mode === mode
      ? memory.answer
      : refused('bad_request')
  }
  const hold = holdOf(turn.key, owner)
  const step = hold?.steps.find((other) => other.id === id)
  if (hold && step) {
    if (step.mode !== mode) return refused('bad_request')
    takeAll(hold)
    extendLease(turn, hold, request.ttl)
    return grantedAnswer(turn, hold, mode)
  }
  const waiter = turn.key.queue.find((other) => other.owner === owner && other.id === id)
  if (waiter === undefined) return undefined
  if (waiter.mode !== mode) return refused('bad_request')
  if (waitMs > 0) {
    waiter.deadline = request.deadline
    if (command.detach !== true) waiter.connected = true
  }
  waiter.lease = patienceOf(turn, waiter)
  return positionAnswer(turn, waiter)
}

function askAnew(turn: Turn, request: NaiveWaiter, waitMs: number): Outcome {
  const { key } = turn
  const { owner, mode } = request
  const hold = holdOf(key, owner)
  if (hold && hold.steps.length >= STEPS_PER_HOLD_MAX) return refused('limit')
  const isReentry = hold && (mode === 'read' || countOf(hold, 'write') > 0)
  const isUpgrade = hold && !isReentry
  const isNext = isUpgrade || key.queue.length === 0
  if (isNext && isFree(key, owner, mode) && !hasRoom(turn, owner)) return refused('limit')
  if (isReentry || (isNext && isFree(key, owner, mode))) {
    if (hold) takeAll(hold)
    return grant(turn, request, null)
  }
  if (isUpgrade && otherUpgraders(turn, owner)) {
    return refuse(turn, request, refused('upgrade_conflict'))
  }
  if (waitMs === 0) return refuse(turn, request, refused('held'))
  if (!hold && isGrantedOnArrival(turn, request)) {
    const granted = grant(turn, request, null)
    countPasses(turn, request.lane)
    decideOthersAgain(turn, owner)
    return granted
  }
  if (key.queue.length >= turn.world.settings.waitersPerKeyMax) return refused('limit')
  const cycle = findCycle(turn, request)
  if (cycle) return refuse(turn, request, { kind: 'refused', code: 'deadlock', cycle })
  key.queue.push(request)
  return positionAnswer(turn, request)
}

/** Whether the queue would move at once if the request joined it: its lane is served first. */
function isGrantedOnArrival(turn: Turn, request: NaiveWaiter): boolean {
  const { key } = turn
  const joined = { ...turn, key: { ...key, queue: [...key.queue, request] } }
  return nextInLine(joined) === request && isGrantable(turn, request)
}

function isGrantable(turn: Turn, { owner, mode }: NaiveWaiter): boolean {
  return isFree(turn.key, owner, mode) && hasRoom(turn, owner)
}

function refuse(turn: Turn, request: NaiveWaiter, answer: Outcome): Outcome {
  const { owner, id, mode } = request
  remember(turn, { verb: 'acquire', owner, id, mode, answer })
  return answer
}

export function release(turn: Turn, command: Release): Outcome {
  const { owner, requestId: id, token } = command
  const memory = id === undefined ? undefined : recall(turn, { verb: 'release', owner, id })
  if (memory) {
    const isSame = [command.mode, memory.mode].includes(undefined) || command.mode === memory.mode
    return isSame ? memory.answer : refused('bad_request')
  }
  const hold = holdOf(turn.key, owner)
  const mode: Mode = command.mode ?? (hold && countOf(hold, 'write') > 0 ? 'write' : 'read')
  const step = hold?.steps.findLast((other) => other.mode === mode)
  if (hold === undefined || step === undefined) {
    const answer = hold === undefined ? strangerAnswer(turn, owner) : refused('not_holder')
    if (token === undefined) rememberRelease(turn, { owner, id, mode: command.mode }, answer)
    return answer
  }
  if (token !== undefined && token !== hold.token) return refused('stale_token')
  takeAll(hold)
  endStep(turn, { hold, step, end: 'released' })
  const answer: Outcome = {
    kind: 'released',
    reads: countOf(hold, 'read'),
    writes: countOf(hold, 'write'),
  }
  rememberRelease(turn, { owner, id, mode }, answer)
  moveQueue(turn)
  return answer
}

interface NamedRelease {
  readonly owner: string
  readonly id: string | undefined
  readonly mode: Mode | undefined
}

/** A release that has a name of its own is told the same when it comes again. */
export function rememberRelease(
  turn: Turn,
  { owner, id, mode }: NamedRelease,
  answer: Outcome,
): void {
  if (id !== undefined) remember(turn, { verb: 'release', owner, id, mode, answer })
}

export function renew(turn: Turn, command: Renew): Outcome {
  const hold = holdOf(turn.key, command.owner)
  if (hold === undefined) return strangerAnswer(turn, command.owner)
  if (command.token !== undefined && command.token !== hold.token) return refused('stale_token')
  takeAll(hold)
  extendLease(turn, hold, command.ttlMs)
  return { kind: 'renewed', token: hold.token, leaseMs: hold.lease - turn.now }
}

/** Whoever does not hold is told how it last ceased to, as long as that is remembered. */
export function strangerAnswer(turn: Turn, owner: string): Outcome {
  const last = turn.key.memory
    .filter((memory) => memory.owner === owner && memory.verb === 'acquire')
    .findLast(({ answer }) => answer.kind === 'refused' && answer.code === 'ended')
  const isOver = last === undefined || last.at + ENDED_REMEMBERED_MS <= turn.now
  if (isOver || last.answer.kind !== 'refused') return refused('not_holder')
  const { end } = last.answer
  return { kind: 'refused', code: 'not_holder', ...(end === undefined ? {} : { end }) }
}

/** Nobody is on the line any more. */
export function hangUp(turn: Turn, owner: string): Outcome {
  const waiter = turn.key.queue.find((other) => other.owner === owner)
  if (waiter === undefined) return refused('not_holder')
  waiter.connected = waiter.session !== undefined
  waiter.lease = patienceOf(turn, waiter)
  return positionAnswer(turn, waiter)
}

export function entrust(turn: Turn, owner: string, id: string | undefined): Outcome {
  const hold = holdOf(turn.key, owner)
  const step = hold?.steps.find((one) => id === undefined || one.id === id)
  if (hold === undefined || step === undefined) return strangerAnswer(turn, owner)
  if (step.claimBy !== null) step.claimBy = Infinity
  return grantedAnswer(turn, hold, step.mode)
}

export function cancel(turn: Turn, command: Cancel): Outcome {
  const { owner, requestId: id, reason = 'cancelled', namespace } = command
  // It goes by its owner's name, and may be asked for anew.
  const isNameless = namespace === 'operation' && id === owner
  const isMeant = (standing: Standing): boolean => {
    if (id === undefined) return true
    const others = [standing.id, ...standing.joined].filter((name) => name !== id)
    const isIn = others.length <= standing.joined.length
    return isIn && others.every((name) => recall(turn, { verb: 'acquire', owner, id: name }))
  }
  const waiters = turn.key.queue.filter((waiter) => waiter.owner === owner && isMeant(waiter))
  const hold = holdOf(turn.key, owner)
  const undoesTaken = id !== undefined && reason === 'cancelled'
  const undone = (hold?.steps ?? []).filter(
    (step) => (undoesTaken || step.claimBy !== null) && isMeant(step),
  )
  const end = reason === 'abandoned' ? 'unclaimed' : 'cancelled'
  for (const waiter of waiters) leave(turn, waiter, refused(reason))
  if (hold) for (const step of undone) endStep(turn, { hold, step, end })
  const isCancelled = waiters.length + undone.length > 0
  const isStanding = [
    ...turn.key.queue.filter((one) => one.owner === owner),
    ...(hold?.steps ?? []),
  ].some((one) => [one.id, ...one.joined].some((name) => name === id))
  const goesOn = isNameless || (isStanding && reason === 'abandoned')
  if (
    id !== undefined &&
    !isCancelled &&
    !goesOn &&
    !recall(turn, { verb: 'acquire', owner, id })
  ) {
    const answer = refused(reason)
    remember(turn, { verb: 'acquire', owner, id, mode: undefined, answer })
  }
  moveQueue(turn)
  return { kind: 'cancelled', cancelled: isCancelled }
}
