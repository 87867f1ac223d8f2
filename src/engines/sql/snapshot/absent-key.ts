import type { Selectable } from 'kysely'
import type { KeyTable } from '../schema/schema.ts'

/** A key that has no row. Its id is nobody's. */
export const ABSENT_KEY: Readonly<Omit<Selectable<KeyTable>, 'space' | 'name'>> = Object.freeze({
  id: 0,
  version: 0,
  token: 0,
  holds: 0,
  waiters: 0,
  refs: 0,
  successes: 0,
  writer: null,
  next_place: 1,
  passes: null,
  ended_count: 0,
  ended_until_ms: null,
  due_at_ms: null,
})
