import { type Selectable, sql } from 'kysely'
import { unreachable } from '../../../law/assert.ts'
import { losesHolds } from '../../../law/sessions.ts'
import type { Session } from '../../../law/model/view.ts'
import type { KeySnapshot } from './key-snapshot.ts'
import type { KeyPart } from './missing-part.ts'
import { toHold, toReference, toRemembered, toSession, toWaiter } from './row-codec.ts'
import type { SessionTable } from '../schema/schema.ts'
import type { Connection, SqlDialect } from '../sql-dialect.ts'
import { joined, type Rows, type Statement, statement, words } from '../statement.ts'
import type { TransactionContext } from '../commit/transaction-context.ts'

/** How many waiters of a lane are loaded at a time. */
const LANE_WINDOW = 64

/** Load what a decision on this key turned out to need. */
export async function loadPart(
  context: TransactionContext,
  snapshot: KeySnapshot,
  part: KeyPart,
): Promise<void> {
  switch (part.kind) {
    case 'holds':
    case 'hold':
    case 'due-holds':
    case 'holds-in':
      return loadHolds(context, snapshot, part)
    case 'session':
      return loadSession(context, part.id)
    case 'heads':
    case 'lane':
      return loadLanes(context, snapshot, part)
    case 'lane-lengths':
      return countLanes(context, snapshot)
    case 'ahead':
      return countAhead(context, snapshot, part)
    case 'waiters-of':
    case 'waiters-in':
    case 'waiters-of-type':
    case 'due-waiters':
      return loadWaiters(context, snapshot, part)
    case 'references':
    case 'reference':
    case 'unclaimed-references':
      return loadReferences(context, snapshot, part)
    case 'successes':
      return loadSuccesses(context, snapshot)
    default:
      return unreachable(part)
  }
}

/** Load all of a key that a decision on it can look at. */
export async function loadAll(context: TransactionContext, snapshot: KeySnapshot): Promise<void> {
  const { db, process } = context
  const { id, queue } = snapshot
  await loadHolds(context, snapshot, { kind: 'holds' })
  const rows = await db
    .selectFrom('holdfast_waiters')
    .selectAll()
    .where('key_id', '=', id)
    .execute()
  queue.take(rows.map((row) => toWaiter(row, process)))
  queue.takeWhole()
}

type PartOf<Kind extends KeyPart['kind']> = Extract<KeyPart, { kind: Kind }>

async function loadHolds(
  { db, nowMs }: TransactionContext,
  { id, held }: KeySnapshot,
  part: PartOf<'holds' | 'hold' | 'due-holds' | 'holds-in'>,
): Promise<void> {
  const all = db.selectFrom('holdfast_holds').selectAll().where('key_id', '=', id)
  switch (part.kind) {
    case 'holds':
      held.take((await all.execute()).map(toHold))
      held.takeWhole()
      break
    case 'hold': {
      held.take((await all.where('owner', '=', part.owner).execute()).map(toHold))
      held.takeAbsence(part.owner)
      break
    }
    case 'due-holds':
      held.take((await all.where('due_at_ms', '<=', nowMs).execute()).map(toHold))
      held.hasDue = true
      break
    case 'holds-in':
      held.take((await all.where('session', '=', part.session).execute()).map(toHold))
      held.sessions.add(part.session)
      break
    default:
      unreachable(part)
  }
}

/** No other transaction ends one of these sessions while this one looks at it. */
export function selectSessions(
  { dialect, isReading }: { readonly dialect: SqlDialect; readonly isReading: boolean },
  ids: Iterable<string>,
): Statement {
  const from = words(`holdfast_sessions ${dialect.useIndex('primary')}`)
  const lock = words(isReading ? '' : dialect.forShare)
  return statement`select * from ${from} where id in (${joined([...ids].sort())}) ${lock}`
}

/**
 * What was found of these. A session that has ended does not exist any more, even if what it had is still
 * there; nor does a stream session whose client was silent for the grace.
 */
export function takeSessions(
  { sessions, nowMs }: Pick<TransactionContext, 'sessions' | 'nowMs'>,
  ids: Iterable<string>,
  rows: Rows,
): void {
  for (const id of ids) sessions.set(id, undefined)
  for (const row of rows as unknown as Selectable<SessionTable>[]) {
    const session = toSession(row)
    if (row.ended === 0 && !losesHolds(session, nowMs)) sessions.set(row.id, session)
  }
}

async function loadSession(context: TransactionContext, id: string): Promise<void> {
  const { db, dialect } = context
  const [rows = []] = await dialect.run(db, [selectSessions(context, [id])])
  takeSessions(context, [id], rows)
}

/** When the last lease of a silent client runs out; `-Infinity` where the session keeps no hold. */
export async function findLastLease(db: Connection, session: Session): Promise<number> {
  if (!session.keepsLeases) return Number.NEGATIVE_INFINITY
  const { id, heardAtMs } = session
  const renewedUntil = sql<number>`${heardAtMs} + ttl_ms`
  const { rows } = await sql<{ last: number | null }>`
    select max(case when lease_at_ms > ${renewedUntil} then lease_at_ms else ${renewedUntil} end) as last
    from holdfast_holds where session = ${id}`.execute(db)
  const last = rows[0]?.last ?? null
  return last === null ? Number.NEGATIVE_INFINITY : Number(last)
}

async function loadLanes(
  { db, process }: TransactionContext,
  { id, queue, settings }: KeySnapshot,
  part: PartOf<'heads' | 'lane'>,
): Promise<void> {
  const isAll = part.kind === 'heads'
  const lanes = isAll
    ? Array.from({ length: Math.max(1, settings.lanes.length) }, (_, at) => at)
    : [part.lane]
  const all = db.selectFrom('holdfast_waiters').selectAll().where('key_id', '=', id)
  if (isAll) {
    const upgraders = await all.where('upgrade', '=', 1).execute()
    queue.take(upgraders.map((row) => toWaiter(row, process)))
    queue.loaded.hasHeads = true
  }
  for (const lane of lanes) {
    const behind = isAll ? 0 : part.kind === 'lane' ? part.behind : 0
    const rows = await all
      .where('lane', '=', lane)
      .where('upgrade', '=', 0)
      .where('place', '>', behind)
      .orderBy('place')
      .limit(LANE_WINDOW)
      .execute()
    queue.take(rows.map((row) => toWaiter(row, process)))
    queue.loaded.lanesUpTo[lane] = rows.length < LANE_WINDOW ? Infinity : (rows.at(-1)?.place ?? 0)
  }
}

async function countLanes({ db }: TransactionContext, { id, queue }: KeySnapshot): Promise<void> {
  const rows = await db
    .selectFrom('holdfast_waiters')
    .select((eb) => ['lane', eb.fn.countAll<number>().as('length')])
    .where('key_id', '=', id)
    .where('upgrade', '=', 0)
    .groupBy('lane')
    .execute()
  const lengths: number[] = []
  for (const { lane, length } of rows) lengths[lane] = Number(length)
  queue.loaded.laneLengths = lengths
}

async function countAhead(
  { db }: TransactionContext,
  { id, queue }: KeySnapshot,
  { lane, place }: PartOf<'ahead'>,
): Promise<void> {
  const row = await db
    .selectFrom('holdfast_waiters')
    .select((eb) => eb.fn.countAll<number>().as('ahead'))
    .where('key_id', '=', id)
    .where('upgrade', '=', 0)
    .where('lane', '=', lane)
    .where('place', '<', place)
    .executeTakeFirstOrThrow()
  queue.loaded.ahead.set(place, Number(row.ahead))
}

async function loadWaiters(
  { db, nowMs, process }: TransactionContext,
  { id, queue }: KeySnapshot,
  part: PartOf<'waiters-of' | 'waiters-in' | 'waiters-of-type' | 'due-waiters'>,
): Promise<void> {
  const all = db.selectFrom('holdfast_waiters').selectAll().where('key_id', '=', id)
  const take = async (rows: typeof all): Promise<void> => {
    queue.take((await rows.execute()).map((row) => toWaiter(row, process)))
  }
  switch (part.kind) {
    case 'waiters-of':
      await take(all.where('owner', '=', part.owner))
      queue.loaded.owners.add(part.owner)
      break
    case 'waiters-in':
      await take(all.where('session', '=', part.session))
      queue.loaded.sessions.add(part.session)
      break
    case 'waiters-of-type':
      await take(all.where('type', '=', part.type))
      queue.loaded.types.add(part.type)
      break
    case 'due-waiters':
      await take(all.where('due_at_ms', '<=', nowMs))
      queue.loaded.hasDue = true
      break
    default:
      unreachable(part)
  }
}

async function loadReferences(
  { db }: TransactionContext,
  { id, resource }: KeySnapshot,
  part: PartOf<'references' | 'reference' | 'unclaimed-references'>,
): Promise<void> {
  const all = db.selectFrom('holdfast_refs').selectAll().where('key_id', '=', id)
  switch (part.kind) {
    case 'references':
      resource.takeReferences((await all.orderBy('since_ms').execute()).map(toReference))
      resource.takeWhole()
      break
    case 'reference':
      resource.takeReferences((await all.where('node', '=', part.node).execute()).map(toReference))
      resource.takeAbsence(part.node)
      break
    case 'unclaimed-references': {
      const found = await all.where('claim_by_ms', 'is not', null).execute()
      resource.takeReferences(found.map(toReference))
      resource.hasUnclaimed = true
      break
    }
    default:
      unreachable(part)
  }
}

async function loadSuccesses(
  { db }: TransactionContext,
  { id, resource }: KeySnapshot,
): Promise<void> {
  const rows = await db
    .selectFrom('holdfast_successes')
    .selectAll()
    .where('key_id', '=', id)
    .execute()
  resource.takeSuccesses(rows.map(toRemembered))
}
