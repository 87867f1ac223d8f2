import type { HistoryEntry } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { Evidence } from './evidence.ts'
import type { Hold } from './holds.ts'
import type { GrantedRequest, LockRequest } from './requests/requests.ts'
import { answerOf, grantedOf } from './requests/requests.ts'
import type { Violation } from './violation.ts'
import type { WaitingContext } from './waiting.ts'
import { mayHaveLeft } from './waiting.ts'

/**
 * Within a lane, who was known to wait before another asked is granted before it. Left alone are
 * owners that hold the key already (they enter again or upgrade), waiters that may have lost their
 * place, and two readers with no writer between them, who may be granted together.
 */
export function checkQueueOrder({ holds, requests, marks, settings }: Evidence): Violation[] {
  const entered = collectFirstEntries(holds)
  const lanes = partitionBy(requests, ({ subject, lane }) => {
    return JSON.stringify([subject, lane])
  })
  return [...lanes.values()].flatMap((lane) => checkLane(lane, { marks, settings, entered }))
}

interface Context extends WaitingContext {
  /** First answers of the requests that took the key while their owner did not have it. */
  readonly entered: ReadonlySet<HistoryEntry>
}

function checkLane(lane: readonly LockRequest[], context: Context): Violation[] {
  const waiters = lane.filter(({ queuedAt, verdict }) => {
    return queuedAt !== null && (verdict === 'granted' || verdict === 'open')
  })
  const entered = grantedOf(lane).filter(({ answer }) => context.entered.has(answer))
  const writes = entered.flatMap(({ mode, answer }) => {
    return mode === 'write' ? (answer.token ?? []) : []
  })
  return waiters.flatMap((waiter) =>
    entered
      .filter((other) => other !== waiter && arrivedAfter(other, waiter))
      .filter(
        (other) =>
          isPassedBy(waiter, other, writes) && !mayHaveLeft(waiter, other.answered, context),
      )
      .map((other) => toViolation(waiter, other)),
  )
}

// A further grant to an owner that may still have the key says nothing about the queue.
function collectFirstEntries(holds: readonly Hold[]): Set<HistoryEntry> {
  const entered = new Set<HistoryEntry>()
  for (const [index, hold] of holds.entries()) {
    const first = hold.requests[0] as GrantedRequest
    const previous = holds[index - 1]
    const isSameOwner = previous?.subject === hold.subject && previous.owner === hold.owner
    if (!isSameOwner || isCertainlyOver(previous, first)) entered.add(first.answer)
  }
  return entered
}

function isCertainlyOver(previous: Hold, next: GrantedRequest): boolean {
  const record = previous.end?.record
  const isReplaced = previous.end?.cause === 'replaced'
  if (record?.kind === 'op' && record.outcome === 'ok' && !isReplaced) return true
  const before = previous.tokens.at(-1)
  const after = next.answer.token
  const couldUpgrade =
    previous.requests.every(({ mode }) => mode === 'read') && next.mode === 'write'
  return before !== undefined && after !== undefined && before < after && !couldUpgrade
}

function arrivedAfter(other: GrantedRequest, waiter: LockRequest): boolean {
  return (other.entries[0] as HistoryEntry).call > (waiter.queuedAt ?? Infinity)
}

function isPassedBy(
  waiter: LockRequest,
  other: GrantedRequest,
  writeTokens: readonly number[],
): boolean {
  const mine = waiter.answer?.token
  const its = other.answer.token
  if (waiter.verdict === 'open' || mine === undefined || its === undefined) {
    return waiter.entries.some((entry) => isKnownWaiting(entry, other.answered))
  }
  if (its > mine) return false
  const bothRead = waiter.mode === 'read' && other.mode === 'read'
  return !bothRead || writeTokens.some((token) => its < token && token < mine)
}

function isKnownWaiting(entry: HistoryEntry, after: number): boolean {
  return answerOf(entry) === 'queued' && entry.call > after
}

function toViolation(waiter: LockRequest, other: GrantedRequest): Violation {
  return {
    property: 'queue-order',
    message:
      `${waiter.subject}: ${waiter.owner} waited since ${waiter.queuedAt}, but ${other.owner}, ` +
      `which asked later, was granted before it`,
    entries: [...waiter.entries, other.answer],
  }
}
