import type { MigrationRegistry } from '../engines/sql/schema/migrate.ts'
import type { MigrationTerms } from '../engines/sql/schema/migrations.ts'
import type { ViewTerms } from '../engines/sql/sql-dialect.ts'
import {
  ID_BYTES_MAX,
  KEY_BYTES_MAX,
  OWNER_BYTES_MAX,
  TYPE_CHARS_MAX,
} from '../engine/validation/limits.ts'

/** Where assignments are until their month has a place of its own. */
export const LATER = 'later'

/**
 * The tables of workflow leases. They are made when somebody opens workflow leases, and not with those of
 * the engine: a database may have a table of the same name from before.
 */
export const WORKFLOW_BOOK: MigrationRegistry = {
  table: 'workflow_migrations',
  migrations: [
    {
      version: 1,
      name: 'locks as workflow engines read them, and assignments',
      statements: (dialect) => [locksView(dialect.views), ...assignmentsTable(dialect)],
    },
  ],
}

/**
 * The locks are those of the engine, so there is one truth. What a lock is about stands in what its
 * owner says of itself; a view that takes it out as text reads the same everywhere.
 */
function locksView({ create, nowMs, instant, text }: ViewTerms): string {
  return `${create} workflow_locks as
    select
      ${text('k.name')} as lock_key,
      ${text('h.owner')} as owner,
      case when h.meta like '{"type":"%"}' and h.meta not like '{"type":"%"%"}'
        then replace(substr(h.meta, 10), '"}', '') end as lock_type,
      ${instant('h.lease_at_ms')} as expires_at,
      ${instant('h.since_ms')} as created_at,
      ${instant('h.lease_at_ms - h.ttl_ms')} as updated_at
    from holdfast_holds h join holdfast_keys k on k.id = h.key_id
    where k.space = 'lock' and h.lease_at_ms > ${nowMs}`
}

function assignmentsTable({ name }: MigrationTerms): string[] {
  const table = `create table workflow_assignments (${columnsOf(name).join(', ')})`
  switch (name) {
    case 'sqlite':
      return [table, ...INDEXES]
    case 'postgres':
      return [
        `${table} partition by range (assigned_at)`,
        ...INDEXES,
        `create table workflow_assignments_${LATER} partition of workflow_assignments default`,
      ]
    case 'mysql':
      return [
        `${table} engine=InnoDB partition by range columns (assigned_at) (
          partition ${LATER} values less than (maxvalue))`,
        ...INDEXES,
      ]
    default:
      return name satisfies never
  }
}

interface AssignmentTypes {
  text(charactersMax: number): string
  readonly instant: string
}

/** People read this table as it is, so names are text also where those of the engine are bytes. */
const TYPES: Readonly<Record<MigrationTerms['name'], AssignmentTypes>> = {
  sqlite: { text: () => 'text', instant: 'text' },
  postgres: { text: () => 'text collate "C"', instant: 'timestamptz(3)' },
  mysql: {
    text: (charactersMax) => `varchar(${charactersMax}) character set utf8mb4 collate utf8mb4_bin`,
    instant: 'datetime(3)',
  },
}

/** A partitioned table has no unique key without the column that it is partitioned by. */
function columnsOf(name: MigrationTerms['name']): string[] {
  const { text, instant } = TYPES[name]
  return [
    `id ${text(ID_BYTES_MAX)} not null`,
    `lock_key ${text(KEY_BYTES_MAX)} not null`,
    `owner ${text(OWNER_BYTES_MAX)} not null`,
    `lock_type ${text(TYPE_CHARS_MAX)} not null`,
    'token bigint not null',
    `assigned_at ${instant} not null`,
    `expires_at ${instant} not null`,
    'renewals bigint not null default 0',
    `ended_at ${instant}`,
    `ended_as ${text(TYPE_CHARS_MAX)}`,
    'primary key (id, assigned_at)',
  ]
}

const INDEXES: readonly string[] = [
  'create index workflow_assignments_key on workflow_assignments (lock_key, ended_at)',
  'create index workflow_assignments_owner on workflow_assignments (owner, assigned_at)',
  'create index workflow_assignments_open on workflow_assignments (ended_at, expires_at)',
]
