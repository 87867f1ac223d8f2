import { HoldRecord } from './table/hold-record.ts'
import type { KeyState } from './table/key-state.ts'
import type { LockTable } from './table/lock-table.ts'
import { ResourceState } from './table/resource-state.ts'
import { SessionRecord } from './table/session-record.ts'
import { WaiterRecord } from './table/waiter-record.ts'

/** What came due on one key. */
interface DueOnKey {
  readonly holds: HoldRecord[]
  readonly waiters: WaiterRecord[]
}

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
  for (const [state, due] of keys) count += expireKey(table, { state, due }, nowMs)
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
    due = { holds: [], waiters: [] }
    keys.set(state, due)
  }
  return due
}

/** Some of what was due may have ended with its session meanwhile; the rest is the law's to decide. */
function expireKey(
  table: LockTable,
  { state, due }: { readonly state: KeyState; readonly due: DueOnKey },
  nowMs: number,
): number {
  const holds = due.holds.filter((hold) => state.hold(hold.owner) === hold)
  const waiters = due.waiters.filter(
    (waiter) => state.waiter(waiter.owner, waiter.requestId) === waiter,
  )
  table.due.set(state, holds, waiters)
  const outcome = table.decide(state, EXPIRE, nowMs)
  table.due.clear()
  return outcome.kind === 'swept' ? outcome.count : 0
}
