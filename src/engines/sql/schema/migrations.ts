import {
  KEY_BYTES_MAX,
  ID_BYTES_MAX,
  OWNER_BYTES_MAX,
  TYPE_CHARS_MAX,
} from '../../../engine/validation/limits.ts'
import type { ColumnTypes, SqlDialect, ViewTerms } from '../sql-dialect.ts'

/** One step of the schema. Steps are never changed once they were released; new ones are appended. */
export interface Migration {
  readonly version: number
  /**
   * Why servers from before cannot work beside it: they have to be stopped first. `docs/operations.md` has
   * the same. Those that start later are refused after every step, whether it breaks them or not.
   */
  readonly breaks?: string
  readonly name: string
  statements(dialect: MigrationTerms): readonly string[]
}

/** What a step may know of the database. */
export type MigrationTerms = Pick<SqlDialect, 'name' | 'types' | 'views'>

/** An operation's owner is its type and node together. */
const ANY_OWNER_BYTES_MAX = OWNER_BYTES_MAX + TYPE_CHARS_MAX + 1

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'keys, holds, waiters, sessions, references and what is remembered',
    statements: ({ types }) => [
      ...keyTables(types),
      ...waiterTable(types),
      ...memoryTables(types),
      ...sharedTables(types),
    ],
  },
  {
    version: 2,
    name: 'who holds what, for people',
    statements: ({ views }) => [holdersView(views)],
  },
  {
    version: 3,
    name: 'the servers that are alive, and what they take for the law',
    statements: ({ types }) => [serverTable(types)],
  },
  {
    version: 4,
    breaks:
      'on MySQL and MariaDB, whoever watches through an older server is not told what newer ones do',
    name: 'a row of its own for who watches, where it is locked',
    statements: ({ name }) =>
      name === 'mysql'
        ? ['insert into holdfast_state (id, floor, watched_until_ms) values (2, 0, 0)']
        : [],
  },
  {
    version: 5,
    breaks: 'an older server does not understand what newer ones write of how requests ended',
    name: 'ends without the names of their fields: those from before are forgotten',
    statements: () => ['update holdfast_keys set ended = null, ended_count = 0'],
  },
  {
    version: 6,
    breaks: 'an older server writes how requests ended to a column that is gone',
    name: 'a row for each end, those from before are forgotten; fewer indexes',
    statements: ({ name, types }) => [
      endTable(types),
      'update holdfast_keys set ended_count = 0',
      'alter table holdfast_keys drop column ended',
      ...dropIndexes(name),
    ],
  },
  {
    version: 7,
    breaks:
      'an older server does not keep the reference of a node that comes for its answer in time',
    name: 'references that their nodes have not claimed',
    statements: ({ types }) => [
      `alter table holdfast_refs add column claim_by_ms ${types.integer}`,
    ],
  },
]

function keyTables({ name, word, text, integer, serial, tableOptions }: ColumnTypes): string[] {
  return [
    `create table holdfast_keys (
      id ${serial},
      space ${word} not null,
      name ${name(KEY_BYTES_MAX)} not null,
      version ${integer} not null default 0,
      token ${integer} not null default 0,
      holds ${integer} not null default 0,
      waiters ${integer} not null default 0,
      refs ${integer} not null default 0,
      successes ${integer} not null default 0,
      writer ${name(ANY_OWNER_BYTES_MAX)},
      next_place ${integer} not null default 1,
      passes ${text},
      ended ${text},
      ended_count ${integer} not null default 0,
      ended_until_ms ${integer},
      due_at_ms ${integer},
      unique (space, name)
    )${tableOptions}`,
    'create index holdfast_keys_due on holdfast_keys (due_at_ms)',
    `create table holdfast_holds (
      key_id ${integer} not null,
      owner ${name(ANY_OWNER_BYTES_MAX)} not null,
      party ${name(ANY_OWNER_BYTES_MAX)} not null,
      session ${name(ID_BYTES_MAX)},
      "reads" ${integer} not null,
      writes ${integer} not null,
      token ${integer} not null,
      since_ms ${integer} not null,
      lease_at_ms ${integer} not null,
      ttl_ms ${integer} not null,
      due_at_ms ${integer} not null,
      steps ${text} not null,
      meta ${text},
      type ${name(TYPE_CHARS_MAX)},
      node ${name(OWNER_BYTES_MAX)},
      version ${name(ID_BYTES_MAX)},
      coordination ${word},
      primary key (key_id, owner)
    )${tableOptions}`,
    'create index holdfast_holds_owner on holdfast_holds (owner)',
    'create index holdfast_holds_session on holdfast_holds (session)',
    'create index holdfast_holds_lease on holdfast_holds (lease_at_ms)',
  ]
}

function waiterTable({ name, word, text, integer, tableOptions }: ColumnTypes): string[] {
  return [
    `create table holdfast_waiters (
      key_id ${integer} not null,
      place ${integer} not null,
      owner ${name(ANY_OWNER_BYTES_MAX)} not null,
      request_id ${name(ANY_OWNER_BYTES_MAX)} not null,
      party ${name(ANY_OWNER_BYTES_MAX)} not null,
      session ${name(ID_BYTES_MAX)},
      mode ${word} not null,
      lane ${integer} not null,
      upgrade ${integer} not null,
      process ${word},
      ttl_ms ${integer} not null,
      since_ms ${integer} not null,
      deadline_at_ms ${integer},
      lease_at_ms ${integer},
      due_at_ms ${integer},
      meta ${text},
      type ${name(TYPE_CHARS_MAX)},
      node ${name(OWNER_BYTES_MAX)},
      version ${name(ID_BYTES_MAX)},
      coordination ${word},
      joined ${text},
      primary key (key_id, place),
      unique (key_id, owner, request_id)
    )${tableOptions}`,
    'create index holdfast_waiters_owner on holdfast_waiters (owner)',
    'create index holdfast_waiters_session on holdfast_waiters (session)',
    'create index holdfast_waiters_process on holdfast_waiters (process)',
    'create index holdfast_waiters_due on holdfast_waiters (key_id, due_at_ms)',
  ]
}

function memoryTables({ name, word, text, integer, serial, tableOptions }: ColumnTypes): string[] {
  return [
    `create table holdfast_refs (
      key_id ${integer} not null,
      node ${name(OWNER_BYTES_MAX)} not null,
      since_ms ${integer} not null,
      primary key (key_id, node)
    )${tableOptions}`,
    'create index holdfast_refs_node on holdfast_refs (node)',
    `create table holdfast_successes (
      key_id ${integer} not null,
      type ${name(TYPE_CHARS_MAX)} not null,
      version ${name(ID_BYTES_MAX)},
      node ${name(OWNER_BYTES_MAX)} not null,
      value ${text},
      at_ms ${integer} not null,
      until_ms ${integer} not null,
      replay_only ${integer} not null,
      primary key (key_id, type)
    )${tableOptions}`,
    `create table holdfast_history (
      id ${serial},
      space ${word} not null,
      name ${name(KEY_BYTES_MAX)} not null,
      owner ${name(ANY_OWNER_BYTES_MAX)} not null,
      mode ${word} not null,
      token ${integer} not null,
      from_ms ${integer} not null,
      to_ms ${integer} not null,
      end_kind ${word} not null
    )${tableOptions}`,
    'create index holdfast_history_name on holdfast_history (name, id)',
    'create index holdfast_history_to on holdfast_history (to_ms)',
  ]
}

function sharedTables({ name, word, text, integer, serial, tableOptions }: ColumnTypes): string[] {
  return [
    `create table holdfast_sessions (
      id ${name(ID_BYTES_MAX)} not null primary key,
      grace_ms ${integer} not null,
      keeps_leases ${integer} not null,
      heard_at_ms ${integer} not null,
      due_at_ms ${integer} not null,
      ended ${integer} not null
    )${tableOptions}`,
    'create index holdfast_sessions_due on holdfast_sessions (due_at_ms)',
    `create table holdfast_events (
      id ${serial},
      at_ms ${integer} not null,
      body ${text} not null
    )${tableOptions}`,
    'create index holdfast_events_at on holdfast_events (at_ms)',
    `create table holdfast_letters (
      id ${serial},
      process ${word} not null,
      at_ms ${integer} not null,
      body ${text} not null
    )${tableOptions}`,
    'create index holdfast_letters_process on holdfast_letters (process, id)',
    `create table holdfast_state (
      id ${integer} not null primary key,
      floor ${integer} not null,
      watched_until_ms ${integer} not null
    )${tableOptions}`,
    'insert into holdfast_state (id, floor, watched_until_ms) values (1, 0, 0)',
  ]
}

/** What is due is found by its key, and what is old by its number. Most holds have no session. */
function dropIndexes(database: SqlDialect['name']): string[] {
  const drop = (index: string, table: string): string =>
    database === 'mysql' ? `drop index ${index} on ${table}` : `drop index ${index}`
  const unused = [
    drop('holdfast_holds_lease', 'holdfast_holds'),
    drop('holdfast_history_to', 'holdfast_history'),
    drop('holdfast_events_at', 'holdfast_events'),
  ]
  if (database === 'mysql') return unused
  return [
    ...unused,
    drop('holdfast_holds_session', 'holdfast_holds'),
    `create index holdfast_holds_session on holdfast_holds (session) where session is not null`,
  ]
}

function endTable({ text, integer, tableOptions }: ColumnTypes): string {
  return `create table holdfast_ends (
    key_id ${integer} not null,
    number ${integer} not null,
    body ${text} not null,
    primary key (key_id, number)
  )${tableOptions}`
}

function serverTable({ word, text, integer, tableOptions }: ColumnTypes): string {
  return `create table holdfast_servers (
    process ${word} not null primary key,
    name ${text} not null,
    law ${text} not null,
    due_at_ms ${integer} not null
  )${tableOptions}`
}

function holdersView({ create, nowMs, instant, text }: ViewTerms): string {
  return `${create} holdfast_holders as
    select
      k.space as space,
      ${text('k.name')} as name,
      ${text('h.owner')} as owner,
      case when h.writes > 0 then 'write' else 'read' end as mode,
      h.token as token,
      ${instant('h.since_ms')} as held_since,
      ${instant('h.lease_at_ms')} as held_until,
      ${text('h.session')} as session
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where h.lease_at_ms > ${nowMs}`
}
