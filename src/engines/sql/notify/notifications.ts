import type { Outcome } from '../../../law/model/outcomes.ts'
import type { Settled } from '../commit/key-run.ts'
import { ALL_PROCESSES, type Connection, type KeyName } from '../sql-dialect.ts'
import type { Statement } from '../statement.ts'
import type { TransactionContext } from '../commit/transaction-context.ts'
import { insertAll } from '../upsert.ts'
import type { LawEvent } from '../../../law/model/events.ts'

/** What a process is told of a call that it holds open and that another one has settled. */
export interface Notification {
  readonly name: KeyName
  readonly owner: string
  readonly requestId: string
  readonly answer: Outcome
}

/** Written in the transaction that settled the calls, so that they are told if and only if that holds. */
export function writeLetters(
  { dialect, process, nowMs }: TransactionContext,
  settled: readonly Settled[],
): Statement[] {
  const notifications = settled.flatMap(({ name, departure: { waiter, answer } }) => {
    if (waiter.process === undefined || waiter.process === process) return []
    const { owner, requestId } = waiter
    const notification: Notification = { name, owner, requestId, answer }
    return [{ process: waiter.process, at_ms: nowMs, body: JSON.stringify(notification) }]
  })
  if (notifications.length === 0) return []
  const processes = [...new Set(notifications.map((notification) => notification.process))]
  return [...insertAll('holdfast_letters', notifications), ...dialect.ring(processes)]
}

/** Written only while somebody watches. */
export function writeEvents(
  { dialect, nowMs }: TransactionContext,
  events: readonly LawEvent[],
): Statement[] {
  if (events.length === 0) return []
  const rows = events.map((event) => ({ at_ms: nowMs, body: JSON.stringify(event) }))
  return [...insertAll('holdfast_events', rows), ...dialect.ring([ALL_PROCESSES])]
}

/** The notifications of a process, oldest first, by their numbers. They are removed once they were acted on. */
export async function readLetters(
  db: Connection,
  process: string,
): Promise<Map<number, Notification>> {
  const rows = await db
    .selectFrom('holdfast_letters')
    .select(['id', 'body'])
    .where('process', '=', process)
    .orderBy('id')
    .execute()
  return new Map(rows.map(({ id, body }) => [id, parseLetter(body)]))
}

/** What has no value says so; JSON leaves it out. */
function parseLetter(body: string): Notification {
  const notification = JSON.parse(body) as Notification
  const { answer } = notification
  return answer.kind === 'skip'
    ? { ...notification, answer: { kind: 'skip', value: answer.value } }
    : notification
}

/** A database takes only so many values in one statement. */
const REMOVED_AT_ONCE = 1_000

export async function removeLetters(db: Connection, ids: readonly number[]): Promise<void> {
  for (let from = 0; from < ids.length; from += REMOVED_AT_ONCE) {
    const some = ids.slice(from, from + REMOVED_AT_ONCE)
    await db.deleteFrom('holdfast_letters').where('id', 'in', some).execute()
  }
}
