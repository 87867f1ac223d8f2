import type { Selectable } from 'kysely'
import type { Coordination } from '../../../law/model/settings.ts'
import type {
  Ended,
  EndedAnswer,
  Hold,
  HoldEnd,
  Mode,
  OperationFacts,
  Reference,
  Remembered,
  Session,
  Step,
  Waiter,
} from '../../../law/model/view.ts'
import { silentAtMs } from '../../../law/sessions.ts'
import type {
  EndTable,
  HoldTable,
  ReferenceTable,
  SessionTable,
  SuccessTable,
  WaiterTable,
} from '../schema/schema.ts'
import type { NumberedEnd } from './ends-snapshot.ts'
import type { Row } from '../sql-dialect.ts'

/** The law's words as rows, and back. `null` in a column is `undefined` or never. */

/** A waiter, where it stands, and who holds a call open for it. */
export interface PlacedWaiter extends Waiter {
  readonly place: number
  readonly process: string | undefined
}

export function toHold(row: Selectable<HoldTable>): Hold {
  return {
    owner: row.owner,
    party: row.party,
    session: row.session ?? undefined,
    reads: row.reads,
    writes: row.writes,
    token: row.token,
    sinceMs: row.since_ms,
    leaseAtMs: row.lease_at_ms,
    ttlMs: row.ttl_ms,
    steps: (JSON.parse(row.steps) as UntakenStep[]).map(fromStoredStep),
    meta: row.meta ?? undefined,
    operation: toFacts(row),
  }
}

export function toHoldRow(keyId: number, hold: Hold): Row {
  return {
    key_id: keyId,
    owner: hold.owner,
    party: hold.party,
    session: hold.session ?? null,
    reads: hold.reads,
    writes: hold.writes,
    token: hold.token,
    since_ms: hold.sinceMs,
    lease_at_ms: hold.leaseAtMs,
    ttl_ms: hold.ttlMs,
    due_at_ms: dueAtMsOfHold(hold),
    steps: JSON.stringify(hold.steps.map(toStoredStep)),
    meta: hold.meta ?? null,
    ...toFactColumns(hold.operation),
  }
}

/** A step that was granted from the queue, until it is taken. */
export interface UntakenStep extends Step {
  /** The process that tells its owner: nobody else can know that this failed. */
  readonly teller?: string | undefined
}

/** JSON has no infinity: a claim without an end is stored as -1. */
const WITHOUT_END = -1

function toStoredStep(step: UntakenStep): UntakenStep {
  return step.claimByMs === Infinity ? { ...step, claimByMs: WITHOUT_END } : step
}

function fromStoredStep(step: UntakenStep): UntakenStep {
  return step.claimByMs === WITHOUT_END ? { ...step, claimByMs: Infinity } : step
}

/** The end of the lease, or of the time in which a grant must be taken if that is sooner. */
export function dueAtMsOfHold(hold: Hold): number {
  return Math.min(hold.leaseAtMs, ...hold.steps.map(({ claimByMs }) => claimByMs ?? Infinity))
}

/**
 * A waiter is connected if a session answers for it, or if the process that decides holds a call open
 * for it. Any other process has to be told, and takes the grant when it has heard of it.
 */
export function toWaiter(row: Selectable<WaiterTable>, thisProcess: string): PlacedWaiter {
  return {
    place: row.place,
    process: row.process ?? undefined,
    owner: row.owner,
    requestId: row.request_id,
    party: row.party,
    session: row.session ?? undefined,
    mode: row.mode,
    lane: row.lane,
    upgrade: row.upgrade === 1,
    connected: row.session !== null || row.process === thisProcess,
    ttlMs: row.ttl_ms,
    sinceMs: row.since_ms,
    deadlineAtMs: row.deadline_at_ms ?? Infinity,
    leaseAtMs: row.lease_at_ms ?? Infinity,
    meta: row.meta ?? undefined,
    operation: toFacts(row),
    joined: row.joined === null ? undefined : (JSON.parse(row.joined) as string[]),
  }
}

export function toWaiterRow(keyId: number, waiter: PlacedWaiter): Row {
  return {
    key_id: keyId,
    place: waiter.place,
    owner: waiter.owner,
    request_id: waiter.requestId,
    party: waiter.party,
    session: waiter.session ?? null,
    mode: waiter.mode,
    lane: waiter.lane,
    upgrade: Number(waiter.upgrade),
    process: waiter.process ?? null,
    ttl_ms: waiter.ttlMs,
    since_ms: waiter.sinceMs,
    deadline_at_ms: orNever(waiter.deadlineAtMs),
    lease_at_ms: orNever(waiter.leaseAtMs),
    due_at_ms: orNever(dueAtMsOfWaiter(waiter)),
    meta: waiter.meta ?? null,
    ...toFactColumns(waiter.operation),
    joined: waiter.joined === undefined ? null : JSON.stringify(waiter.joined),
  }
}

export function dueAtMsOfWaiter(waiter: Waiter): number {
  return Math.min(waiter.deadlineAtMs, waiter.leaseAtMs)
}

export function orNever(atMs: number): number | null {
  return atMs === Infinity ? null : atMs
}

interface FactColumns {
  readonly type: string | null
  readonly node: string | null
  readonly version: string | null
  readonly coordination: string | null
}

function toFacts(row: FactColumns): OperationFacts | undefined {
  if (row.type === null || row.node === null) return undefined
  return {
    type: row.type,
    node: row.node,
    version: row.version ?? undefined,
    coordination: row.coordination as Coordination,
  }
}

function toFactColumns(facts: OperationFacts | undefined): {
  -readonly [K in keyof FactColumns]: FactColumns[K]
} {
  return {
    type: facts?.type ?? null,
    node: facts?.node ?? null,
    version: facts?.version ?? null,
    coordination: facts?.coordination ?? null,
  }
}

export function toReference(row: Selectable<ReferenceTable>): Reference {
  return { node: row.node, claimByMs: row.claim_by_ms }
}

export function toSession(row: Selectable<SessionTable>): Session {
  return {
    id: row.id,
    graceMs: row.grace_ms,
    keepsLeases: row.keeps_leases === 1,
    heardAtMs: row.heard_at_ms,
  }
}

export function toSessionRow(session: Session): Row {
  return {
    id: session.id,
    grace_ms: session.graceMs,
    keeps_leases: Number(session.keepsLeases),
    heard_at_ms: session.heardAtMs,
    due_at_ms: silentAtMs(session),
    ended: 0,
  }
}

export function toRemembered(row: Selectable<SuccessTable>): Remembered {
  return {
    type: row.type,
    version: row.version ?? undefined,
    node: row.node,
    value: row.value ?? undefined,
    atMs: row.at_ms,
    untilMs: row.until_ms,
    replayOnly: row.replay_only === 1,
  }
}

export function toSuccessRow(keyId: number, remembered: Remembered): Row {
  return {
    key_id: keyId,
    type: remembered.type,
    version: remembered.version ?? null,
    node: remembered.node,
    value: remembered.value ?? null,
    at_ms: remembered.atMs,
    until_ms: remembered.untilMs,
    replay_only: Number(remembered.replayOnly),
  }
}

/** Without the names of its fields, because a key may have dozens of them; most of them ended as holds do. */
type EndedTuple = readonly [
  verb: Ended['verb'],
  owner: string,
  requestId: string,
  mode: Mode | null,
  atMs: number,
  answer: HoldEnd | Exclude<EndedAnswer, { readonly kind: 'hold-ended' }>,
]

export function toEndRow(keyId: number, { number, ended }: NumberedEnd): Row {
  const { verb, owner, requestId, mode = null, atMs, answer } = ended
  const short = answer.kind === 'hold-ended' ? answer.end : answer
  const tuple: EndedTuple = [verb, owner, requestId, mode, atMs, short]
  return { key_id: keyId, number, body: JSON.stringify(tuple) }
}

export function toEnd({ number, body }: Selectable<EndTable>): NumberedEnd {
  const [verb, owner, requestId, mode, atMs, short] = JSON.parse(body) as EndedTuple
  const answer: EndedAnswer = typeof short === 'string' ? { kind: 'hold-ended', end: short } : short
  return { number, ended: { verb, owner, requestId, mode: mode ?? undefined, atMs, answer } }
}

export function toPasses(text: string | null): number[] {
  return text === null ? [] : (JSON.parse(text) as number[])
}
