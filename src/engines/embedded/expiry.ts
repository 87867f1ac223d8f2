import type { Outcome } from '../../law/model/outcomes.ts'
import { HoldRecord } from './table/hold-record.ts'
import type { KeyState } from './table/key-state.ts'
import type { DueOnKey, LockTable } from './table/lock-table.ts'
import { ResourceState } from './table/resource-state.ts'
import { SessionRecord } from './table/session-record.ts'
import { WaiterRecord } from './table/waiter-record.ts'

const EXPIRE = Object.freeze({ kind: 'expire' })

/** What is decided in one turn of the event loop, a few milliseconds of work: then others are served. */
const AT_ONCE_MAX = 1_000

/** A session that has ended or fallen silent, and the keys that have not decided yet what that means there. */
interface Leaving {
  readonly record: SessionRecord
  readonly states: readonly KeyState[]
  next: number
  /** Holds and waiters. */
  ended: number
  readonly settle: (end: Outcome | Promise<never>) => void
}

/**
 * Ends everything that is due: what silent clients lose with their grace, then leases, claims, deadlines and
 * memories, each as the law decides on its key.
 *
 * This runs before every command and when the engine's one timer fires, so that expiry needs no one to ask.
 * Where more is due than fits into a turn of the event loop, the rest is done in the turns that follow, and
 * a command sees to its own key: no decision ever sees anything expired there.
 */
export class Expiry {
  readonly #table: LockTable
  readonly #leaving: Leaving[] = []
  #isBehind = false

  constructor(table: LockTable) {
    this.#table = table
  }

  /** When there is something to do next. */
  get dueAtMs(): number {
    if (this.#leaving.length > 0) return Number.NEGATIVE_INFINITY
    const { heap, withEnds } = this.#table
    return Math.min(heap.peek()?.dueAtMs ?? Number.POSITIVE_INFINITY, withEnds.dueAtMs)
  }

  /** A turn's worth of what is due. Returns how many holds and waiters ended. */
  run(nowMs: number): number {
    if (this.dueAtMs > nowMs) return 0
    const table = this.#table
    const keys = new Map<KeyState, DueOnKey>()
    for (const session of collect(table, nowMs, keys)) this.#leave(session, () => {})
    let count = this.#continueLeaving(nowMs)
    for (const due of keys.values()) count += expireKey(table, due, nowMs)
    table.withEnds.sweep(nowMs)
    this.#isBehind = this.dueAtMs <= nowMs
    return count
  }

  /** More is due than was done: until it is, what is due on a key is done before anything is decided there. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  runOn(state: KeyState | undefined, nowMs: number): number {
    const due = state && dueNow(this.#table, state, nowMs)
    return due === undefined ? 0 : expireKey(this.#table, due, nowMs)
  }

  /** A session was ended by its client: every key that it has decides on that. */
  end(record: SessionRecord, nowMs: number): Outcome | Promise<Outcome> {
    record.hasEnded = true
    let settled: Outcome | Promise<never> | undefined
    let resolve: ((outcome: Outcome | Promise<never>) => void) | undefined
    this.#leave(record, (end) => {
      settled = end
      resolve?.(end)
    })
    this.#continueLeaving(nowMs)
    this.#isBehind ||= this.#leaving.length > 0
    if (settled !== undefined) return settled
    return new Promise((settle) => {
      resolve = settle
    })
  }

  /** The session is opened anew under its name: what it was is over first. */
  finish(record: SessionRecord, nowMs: number): void {
    const isLeft = (): boolean => this.#leaving.every((one) => one.record !== record)
    while (!isLeft()) this.#continueLeaving(nowMs)
  }

  /** Nothing is decided any more. */
  stop(error: Error): void {
    for (const { settle } of this.#leaving.splice(0)) settle(Promise.reject(error))
  }

  #leave(record: SessionRecord, settle: Leaving['settle']): void {
    const states = new Set([...record.holds, ...record.waiters].map((one) => one.state))
    this.#leaving.push({ record, states: [...states], next: 0, ended: 0, settle })
  }

  #continueLeaving(nowMs: number): number {
    const table = this.#table
    let count = 0
    let room = AT_ONCE_MAX
    for (let leaving = this.#leaving[0]; leaving !== undefined; leaving = this.#leaving[0]) {
      const { record, states } = leaving
      while (leaving.next < states.length) {
        if (room <= 0) return count
        const state = states[leaving.next] as KeyState
        const leave = { session: record.id, atMost: AT_ONCE_MAX }
        const ended = table.leaveOn(state, leave, nowMs)
        if (ended < AT_ONCE_MAX || !hasMore(state, record.id)) leaving.next += 1
        leaving.ended += ended
        count += ended
        room -= Math.max(1, ended)
      }
      // The client of a silent one may have come back meanwhile.
      if (record.hasEnded || record.dueAtMs <= nowMs) table.forgetSession(record)
      this.#leaving.shift()
      leaving.settle({ kind: 'session-closed', ended: leaving.ended })
    }
    return count
  }
}

/** Whether a session still has something on a key. */
function hasMore(state: KeyState, session: string): boolean {
  for (const _ of state.waitersIn(session)) return true
  for (const _ of state.holdsIn(session)) return true
  return false
}

/** Takes a turn's worth of what is due out of the heap: by key, and the sessions. */
function collect(
  table: LockTable,
  nowMs: number,
  keys: Map<KeyState, DueOnKey>,
): readonly SessionRecord[] {
  const sessions: SessionRecord[] = []
  for (let room = AT_ONCE_MAX; room > 0; room -= 1) {
    const item = table.heap.peek()
    if (item === undefined || item.dueAtMs > nowMs) break
    table.heap.remove(item)
    if (item instanceof HoldRecord) dueOn(keys, item.state).holds.push(item)
    else if (item instanceof WaiterRecord) dueOn(keys, item.state).waiters.push(item)
    else if (item instanceof SessionRecord) sessions.push(item)
    else if (item instanceof ResourceState) dueOn(keys, item)
  }
  return sessions
}

function dueOn(keys: Map<KeyState, DueOnKey>, state: KeyState): DueOnKey {
  let due = keys.get(state)
  if (due === undefined) {
    due = { state, holds: [], waiters: [] }
    keys.set(state, due)
  }
  return due
}

/** The same for one key, where the heap has more than can be looked through. */
function dueNow(table: LockTable, state: KeyState, nowMs: number): DueOnKey | undefined {
  const isDue = (item: { readonly dueAtMs: number }): boolean => item.dueAtMs <= nowMs
  const holds = [...state.holds()].filter(isDue)
  const waiters = [...(state.queue ?? [])].filter(isDue)
  const resource = state instanceof ResourceState && isDue(state) ? [state] : []
  const items = [...holds, ...waiters, ...resource]
  if (items.length === 0) return undefined
  for (const item of items) table.heap.remove(item)
  const byTime = (one: HoldRecord | WaiterRecord, other: HoldRecord | WaiterRecord): number =>
    one.dueAtMs - other.dueAtMs
  return { state, holds: holds.sort(byTime), waiters: waiters.sort(byTime) }
}

/** Some of what was due may have ended with its session meanwhile; the rest is the law's to decide. */
function expireKey(table: LockTable, { state, holds, waiters }: DueOnKey, nowMs: number): number {
  table.due = {
    state,
    holds: holds.filter((hold) => state.hold(hold.owner) === hold),
    waiters: waiters.filter((one) => state.waiter(one.owner, one.requestId) === one),
  }
  try {
    const outcome = table.decide(state, EXPIRE, nowMs)
    return outcome.kind === 'swept' ? outcome.count : 0
  } finally {
    table.due = undefined
  }
}
