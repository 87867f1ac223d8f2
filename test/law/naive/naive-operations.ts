import type { Begin, Finish } from '../../../src/law/model/commands.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import {
  patienceOf,
  positionAnswer,
  recall,
  rememberRelease,
  strangerAnswer,
  takeAll,
} from './naive-locks.ts'
import {
  addReference,
  claimReference,
  isOneTooMany,
  isSameVersion,
  verdictAtHead,
} from './naive-memory-of-success.ts'
import {
  endHold,
  extendLease,
  grant,
  grantedAnswer,
  join,
  leave,
  moveQueue,
  refused,
  remember,
} from './naive-queue.ts'
import { holdOf, type NaiveFacts, type NaiveWaiter, type Turn } from './naive-state.ts'

/** begin, finish and unref: section 6 of the law. */

function ownerOf(command: Begin | Finish): string {
  return `${command.type}:${command.node}`
}

function laneOf(turn: Turn, command: Begin): number {
  const { lanes } = turn.world.settings
  const index = lanes.indexOf(command.lane ?? command.type)
  return index >= 0 ? index : Math.max(0, lanes.length - 1)
}

function toWaiter(turn: Turn, command: Begin): NaiveWaiter {
  const { settings } = turn.world
  const { type, node, version, coordination = settings.coordination } = command
  const owner = ownerOf(command)
  const connected = (command.waitMs ?? 0) > 0 || command.session !== undefined
  return {
    owner,
    id: command.requestId ?? owner,
    party: owner,
    session: command.session,
    facts: { type, node, version, coordination },
    mode: 'write',
    lane: laneOf(turn, command),
    ttl: command.ttlMs ?? settings.operationTtlMs,
    connected,
    deadline: Infinity,
    lease: patienceOf(turn, { connected, session: command.session }),
    joined: [],
  }
}

export function begin(turn: Turn, command: Begin): Outcome {
  const request = toWaiter(turn, command)
  const { owner, id, session } = request
  const memory = id === owner ? undefined : recall(turn, { verb: 'acquire', owner, id })
  const isOpen = (command.waitMs ?? 0) > 0
  if (memory?.answer.kind === 'skip' && command.type === 'pull') claimReference(turn, command.node)
  const known = memory?.answer ?? presentStanding(turn, request, isOpen)
  if (known) return known
  const hasNoSession = session !== undefined && !turn.world.sessions.has(session)
  return hasNoSession ? refused('no_session') : beginAnew(turn, request)
}

function presentStanding(turn: Turn, request: NaiveWaiter, isOpen: boolean): Outcome | undefined {
  const hold = holdOf(turn.key, request.owner)
  const waiter = turn.key.queue.find((other) => other.owner === request.owner)
  const standing = hold ?? waiter
  if (standing === undefined) return undefined
  if (!isSameVersion(standing.facts?.version, request.facts?.version)) return refused('bad_request')
  if (hold) {
    takeAll(hold)
    extendLease(turn, hold, request.ttl)
    for (const step of hold.steps) join(step, request)
    return grantedAnswer(turn, hold, 'write')
  }
  if (waiter === undefined) return undefined
  if (isOpen) waiter.connected = true
  join(waiter, request)
  waiter.lease = patienceOf(turn, waiter)
  return positionAnswer(turn, waiter)
}

function beginAnew(turn: Turn, request: NaiveWaiter): Outcome {
  const { key, world } = turn
  const verdict = verdictAtHead(turn, request, true)
  if (verdict) return answerForGood(turn, request, verdict)
  if (key.holds.length === 0) return grant(turn, request, null)
  if (!world.settings.multiNode) return answerForGood(turn, request, refused('held'))
  if (key.queue.length >= world.settings.waitersPerKeyMax) return refused('limit')
  key.queue.push(request)
  return positionAnswer(turn, request)
}

function answerForGood(turn: Turn, request: NaiveWaiter, answer: Outcome): Outcome {
  const { owner, id, mode } = request
  const isMoment = answer.kind === 'refused' && answer.code === 'limit'
  if (id !== owner && !isMoment) remember(turn, { verb: 'acquire', owner, id, mode, answer })
  return answer
}

export function finish(turn: Turn, command: Finish): Outcome {
  const owner = ownerOf(command)
  const { requestId: id, token, success } = command
  const memory = id === undefined ? undefined : recall(turn, { verb: 'release', owner, id })
  if (memory) return memory.answer
  const hold = holdOf(turn.key, owner)
  if (hold?.facts === undefined) {
    const answer = strangerAnswer(turn, owner)
    if (token === undefined) rememberRelease(turn, { owner, id, mode: 'write' }, answer)
    return answer
  }
  if (token !== undefined && token !== hold.token) return refused('stale_token')
  endHold(turn, hold, success ? 'released' : 'failed')
  const answer: Outcome = { kind: 'finished', success }
  rememberRelease(turn, { owner, id, mode: 'write' }, answer)
  if (success) succeed(turn, hold.facts, command)
  moveQueue(turn)
  return answer
}

function succeed(turn: Turn, facts: NaiveFacts, command: Finish): void {
  const coordination = command.coordination ?? facts.coordination
  const alike = turn.key.queue.filter(
    (waiter) => waiter.facts?.type === facts.type && waiter.facts.coordination === coordination,
  )
  forgetUndone(turn, facts.type)
  if (coordination === 'client') {
    for (const waiter of alike) leave(turn, waiter, { kind: 'dissolved', node: facts.node })
  }
  if (coordination !== 'server') return
  if (facts.type === 'delete') turn.key.refs = []
  addReference(turn, facts, true)
  recordSuccess(turn, facts, command.value)
  for (const waiter of alike) {
    if (waiter.facts === undefined || !isSameVersion(waiter.facts.version, facts.version)) continue
    if (isOneTooMany(turn, waiter.facts)) {
      leave(turn, waiter, refused('limit'))
      continue
    }
    addReference(turn, waiter.facts, waiter.connected)
    leave(turn, waiter, { kind: 'skip', value: command.value })
  }
}

/** Whoever deletes undoes what was done, and whatever is done undoes a delete. */
function forgetUndone({ key }: Turn, type: string): void {
  key.successes = key.successes.filter(
    (success) => success.type === type || (success.type !== 'delete' && type !== 'delete'),
  )
}

function recordSuccess(turn: Turn, facts: NaiveFacts, value: string | undefined): void {
  const { type, version } = facts
  const until = turn.now + turn.world.settings.retentionMs
  const others = turn.key.successes.filter((success) => success.type !== type)
  turn.key.successes = [...others, { type, version, value, until }]
}

export function unref(turn: Turn, node: string): Outcome {
  const before = turn.key.refs.length
  turn.key.refs = turn.key.refs.filter((ref) => ref.node !== node)
  const count = turn.key.refs.length
  return { kind: 'unreferenced', removed: before - count, count }
}
