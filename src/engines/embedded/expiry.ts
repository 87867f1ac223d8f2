import { HoldRecord } from './table/hold-record.ts'
import type { KeyState } from './table/key-state.ts'
import type { DueOnKey, LockTable } from './table/lock-table.ts'
import { ResourceState } from './table/resource-state.ts'
import { SessionRecord } from './table/session-record.ts'
import { WaiterRecord } from './table/waiter-record.ts'

const EXPIRE = Object.freeze({ kind: 'expire' })

/**
 * End everything that is due: what silent clients lose with their grace, then leases, claims, deadlines and
 * memories, each as the law decides on its key. Returns how many holds and waiters ended.
 *
 * This runs before every command and when the engine's one timer fires, so that no decision ever sees
 * anything expired, and expiry needs no one to ask.
 */
export function expireDue(table: LockTable, nowMs: number): number {
  if ((table.heap.peek()?.dueAtMs ?? Infinity) > nowMs && table.withEnds.dueAtMs > nowMs) return 0
  const keys = new Map<KeyState, DueOnKey>()
  const sessions: SessionRecord[] = []
  collect(table, nowMs, { keys, sessions })
  let count = 0
  for (const session of sessions) count += table.leaveSession(session, nowMs)
  for (const due of keys.values()) count += expireKey(table, due, nowMs)
  table.withEnds.sweep(nowMs)
  return count
}

interface Collected {
  readonly keys: Map<KeyState, DueOnKey>
  readonly sessions: SessionRecord[]
}

function collect(table: LockTable, nowMs: number, into: Collected): void {
  for (let item = table.heap.peek(); item !== undefined; item = table.heap.peek()) {
    if (item.dueAtMs > nowMs) return
    table.heap.remove(item)
    if (item instanceof HoldRecord) dueOn(into, item.state).holds.push(item)
    else if (item instanceof WaiterRecord) dueOn(into, item.state).waiters.push(item)
    else if (item instanceof SessionRecord) into.sessions.push(item)
    else if (item instanceof ResourceState) dueOn(into, item)
  }
}

function dueOn({ keys }: Collected, state: KeyState): DueOnKey {
  let due = keys.get(state)
  if (due === undefined) {
    due = { state, holds: [], waiters: [] }
    keys.set(state, due)
  }
  return due
}

/** Some of what was due may have ended with its session meanwhile; the rest is the law's to decide. */
function expireKey(table: LockTable, { state, holds, waiters }: DueOnKey, nowMs: number): number {
  table.due = {
    state,
    holds: holds.filter((hold) => state.hold(hold.owner) === hold),
    waiters: waiters.filter((one) => state.waiter(one.owner, one.requestId) === one),
  }
  const outcome = table.decide(state, EXPIRE, nowMs)
  table.due = undefined
  return outcome.kind === 'swept' ? outcome.count : 0
}
