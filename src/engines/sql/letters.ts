import type { Outcome } from '../../law/outcomes.ts'
import type { Settled } from './key-work.ts'
import { ALL_PROCESSES, type Connection, type KeyName } from './sql-dialect.ts'
import type { TransactionContext } from './transaction-context.ts'
import type { LawEvent } from '../../law/events.ts'

/** What a process is told of a call that it holds open and that another one has settled. */
export interface Letter {
  readonly name: KeyName
  readonly owner: string
  readonly requestId: string
  readonly ttlMs: number
  readonly answer: Outcome
}

/** Written in the transaction that settled the calls, so that they are told if and only if that holds. */
export async function writeLetters(
  { db, dialect, process, nowMs }: TransactionContext,
  settled: readonly Settled[],
): Promise<void> {
  const letters = settled.flatMap(({ name, departure: { waiter, answer } }) => {
    if (waiter.process === undefined || waiter.process === process) return []
    const { owner, requestId, ttlMs } = waiter
    const letter: Letter = { name, owner, requestId, ttlMs, answer }
    return [{ process: waiter.process, at_ms: nowMs, body: JSON.stringify(letter) }]
  })
  if (letters.length === 0) return
  await db.insertInto('holdfast_letters').values(letters).execute()
  await dialect.ring(db, [...new Set(letters.map((letter) => letter.process))])
}

/** Written only while somebody watches. */
export async function writeEvents(
  { db, dialect, nowMs }: TransactionContext,
  events: readonly LawEvent[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map((event) => ({ at_ms: nowMs, body: JSON.stringify(event) }))
  await db.insertInto('holdfast_events').values(rows).execute()
  await dialect.ring(db, [ALL_PROCESSES])
}

/** The letters of a process, oldest first. They are removed once they were acted on. */
export async function readLetters(
  db: Connection,
  process: string,
): Promise<{ readonly ids: number[]; readonly letters: Letter[] }> {
  const rows = await db
    .selectFrom('holdfast_letters')
    .select(['id', 'body'])
    .where('process', '=', process)
    .orderBy('id')
    .execute()
  return {
    ids: rows.map(({ id }) => id),
    letters: rows.map(({ body }) => parseLetter(body)),
  }
}

/** What has no value says so; JSON leaves it out. */
function parseLetter(body: string): Letter {
  const letter = JSON.parse(body) as Letter
  const { answer } = letter
  return answer.kind === 'skip'
    ? { ...letter, answer: { kind: 'skip', value: answer.value } }
    : letter
}

export async function removeLetters(db: Connection, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db.deleteFrom('holdfast_letters').where('id', 'in', ids).execute()
}
