import type { WatchFilter } from '../engine.ts'
import type { ListQuery, Query } from '../queries.ts'
import { QUERY_LIMIT_MAX } from './query-limits.ts'
import { KEY_BYTES_MAX, OWNER_BYTES_MAX, TYPE_CHARS_MAX } from './limits.ts'
import { problemWithName } from './names.ts'
import type { Problem } from './validate.ts'

/** An operation's owner is its type and node together. */
const ANY_OWNER_BYTES_MAX = OWNER_BYTES_MAX + TYPE_CHARS_MAX + 1

/** What is wrong with a query; `undefined` when it is well formed. */
export function problemWithQuery(query: Query): Problem | undefined {
  switch (query.kind) {
    case 'inspect':
      return (
        badName('key', query.key, KEY_BYTES_MAX) ??
        badNamespace(query.namespace) ??
        badLimit('queueLimit', query.queueLimit)
      )
    case 'standing':
      return (
        badName('key', query.key, KEY_BYTES_MAX) ??
        badName('owner', query.owner, ANY_OWNER_BYTES_MAX) ??
        badNamespace(query.namespace)
      )
    case 'references':
      return badName('resource', query.resource, KEY_BYTES_MAX)
    case 'list':
      return badList(query)
    case 'history':
      return (
        (query.key === undefined ? undefined : badName('key', query.key, KEY_BYTES_MAX)) ??
        badNamespace(query.namespace) ??
        badLimit('limit', query.limit)
      )
    case 'stats':
      return undefined
    default:
      return { field: 'kind', message: 'names no query' }
  }
}

/** What is wrong with the filter of a watch. */
export function problemWithFilter({ prefix = '', namespace }: WatchFilter): Problem | undefined {
  return badPrefix(prefix) ?? badNamespace(namespace)
}

/** What no name begins with is a mistake, and not every store could be asked for it. */
function badPrefix(prefix: string): Problem | undefined {
  return prefix === '' ? undefined : badName('prefix', prefix, KEY_BYTES_MAX)
}

function badName(field: string, value: string, bytesMax: number): Problem | undefined {
  const message = problemWithName(value, bytesMax)
  return message === undefined ? undefined : { field, message }
}

function badNamespace(value: string | undefined): Problem | undefined {
  const isFine = value === undefined || value === 'lock' || value === 'operation'
  return isFine ? undefined : { field: 'namespace', message: 'must be lock or operation' }
}

function badList({ prefix = '', owner, namespace, limit, cursor }: ListQuery): Problem | undefined {
  return (
    badLimit('limit', limit) ??
    badNamespace(namespace) ??
    badPrefix(prefix) ??
    (owner === undefined ? undefined : badName('owner', owner, ANY_OWNER_BYTES_MAX)) ??
    badCursor(cursor)
  )
}

/** A cursor is the place of the last lock shown, as `placeOf` writes it. */
function badCursor(cursor: string | undefined): Problem | undefined {
  const isFine =
    cursor === undefined ||
    // oxlint-disable-next-line no-control-regex -- the separator is one that no key contains
    (/\u0000[01]$/.test(cursor) &&
      problemWithName(cursor.slice(0, -2), KEY_BYTES_MAX) === undefined)
  return isFine ? undefined : { field: 'cursor', message: 'must be that of the reply before' }
}

function badLimit(field: string, value: number | undefined): Problem | undefined {
  const isFine =
    value === undefined || (Number.isInteger(value) && value >= 1 && value <= QUERY_LIMIT_MAX)
  return isFine ? undefined : { field, message: `must be from 1 to ${QUERY_LIMIT_MAX}` }
}
