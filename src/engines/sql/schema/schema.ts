import type { Generated, Selectable } from 'kysely'

/**
 * The tables. Instants are milliseconds since the epoch on the clock of the database, so that a person
 * can read them; `null` is never. Texts that the engine alone reads are JSON.
 */
export interface SqlSchema {
  readonly holdfast_keys: KeyTable
  readonly holdfast_holds: HoldTable
  readonly holdfast_waiters: WaiterTable
  readonly holdfast_sessions: SessionTable
  readonly holdfast_ends: EndTable
  readonly holdfast_refs: ReferenceTable
  readonly holdfast_successes: SuccessTable
  readonly holdfast_history: HistoryTable
  readonly holdfast_events: EventTable
  readonly holdfast_letters: LetterTable
  readonly holdfast_state: StateTable
  readonly holdfast_servers: ServerTable
  readonly holdfast_migrations: MigrationTable
}

export type Space = 'lock' | 'operation'

/** One row for each key that has anything: whoever decides on the key locks it first. */
export interface KeyTable {
  id: Generated<number>
  space: Space
  name: string
  /** Goes up with every change of anything that belongs to the key. */
  version: number
  /** Every token given on this key so far is at most this, or at most the floor. */
  token: number
  holds: number
  waiters: number
  refs: number
  successes: number
  /** The owner whose hold has a write count. */
  writer: string | null
  /** The place of the next waiter. Taken under the lock on this row, so places are in order. */
  next_place: number
  /** How often each lane was passed, as a JSON array. */
  passes: string | null
  /** How many ends are remembered, as of the last change. */
  ended_count: number
  /** When the last of them is forgotten. */
  ended_until_ms: number | null
  /** The soonest moment at which anything of this key has to be looked at. */
  due_at_ms: number | null
}

/** As much of a locked row as tells whether what is known of it is still true. */
export type LockedRow = Pick<Selectable<KeyTable>, 'id' | 'version' | 'space' | 'name'>

export interface HoldTable {
  key_id: number
  owner: string
  party: string
  session: string | null
  reads: number
  writes: number
  token: number
  since_ms: number
  lease_at_ms: number
  ttl_ms: number
  /** The lease, or the time in which a grant has to be taken if that is sooner. */
  due_at_ms: number
  steps: string
  meta: string | null
  type: string | null
  node: string | null
  version: string | null
  coordination: string | null
}

export interface WaiterTable {
  key_id: number
  place: number
  owner: string
  request_id: string
  party: string
  session: string | null
  mode: 'read' | 'write'
  lane: number
  upgrade: number
  /** The process that holds a call open for it, if one does. */
  process: string | null
  ttl_ms: number
  since_ms: number
  deadline_at_ms: number | null
  lease_at_ms: number | null
  due_at_ms: number | null
  meta: string | null
  type: string | null
  node: string | null
  version: string | null
  coordination: string | null
  joined: string | null
}

export interface SessionTable {
  id: string
  grace_ms: number
  keeps_leases: number
  heard_at_ms: number
  due_at_ms: number
  /** It has ended, and what it had is being ended key by key. */
  ended: number
}

/** How a request ended, for whoever asks with it again. */
export interface EndTable {
  key_id: number
  /** The later, the higher. */
  number: number
  body: string
}

export interface ReferenceTable {
  key_id: number
  node: string
  since_ms: number
  /** By when the node has to claim it; `null` once it has. */
  claim_by_ms: number | null
}

export interface SuccessTable {
  key_id: number
  type: string
  version: string | null
  node: string
  value: string | null
  at_ms: number
  until_ms: number
  replay_only: number
}

export interface HistoryTable {
  id: Generated<number>
  space: Space
  name: string
  owner: string
  mode: 'read' | 'write'
  token: number
  from_ms: number
  to_ms: number
  end_kind: string
}

/** What watchers are told. Written only while somebody watches, and for a minute. */
export interface EventTable {
  id: Generated<number>
  at_ms: number
  body: string
}

/** The answer to a call that another process holds open. */
export interface LetterTable {
  id: Generated<number>
  process: string
  at_ms: number
  body: string
}

/** One row for what is true of all keys, and where it is locked a second one for who watches. */
export interface StateTable {
  id: number
  /** Tokens of keys whose rows were removed are at most this. */
  floor: number
  /** Somebody watches, at least until then. */
  watched_until_ms: number
}

/** A server that says what it takes for the law, so that others can say where they differ. */
export interface ServerTable {
  process: string
  name: string
  law: string
  /** It is gone unless it is heard of before. */
  due_at_ms: number
}

export interface MigrationTable {
  version: number
  name: string
  at_ms: number
}
