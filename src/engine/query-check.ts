import type { ListQuery, Query } from './queries.ts'
import { KEY_BYTES_MAX, OWNER_BYTES_MAX, TYPE_CHARS_MAX } from '../law/limits.ts'
import { problemWithName } from '../law/names.ts'
import type { Problem } from '../law/validate.ts'

const LIST_LIMIT_MAX = 1000
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
      return badLimit('limit', query.limit) ?? badNamespace(query.namespace) ?? badCursor(query)
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

function badName(field: string, value: string, bytesMax: number): Problem | undefined {
  const message = problemWithName(value, bytesMax)
  return message === undefined ? undefined : { field, message }
}

function badNamespace(value: string | undefined): Problem | undefined {
  const isFine = value === undefined || value === 'lock' || value === 'operation'
  return isFine ? undefined : { field: 'namespace', message: 'must be lock or operation' }
}

/** A cursor is the place of the last lock shown, as `placeOf` writes it. */
function badCursor({ cursor }: ListQuery): Problem | undefined {
  // oxlint-disable-next-line no-control-regex -- the separator is one that no key contains
  const isFine = cursor === undefined || /\u0000[01]$/.test(cursor)
  return isFine ? undefined : { field: 'cursor', message: 'must be that of the reply before' }
}

function badLimit(field: string, value: number | undefined): Problem | undefined {
  const isFine =
    value === undefined || (Number.isInteger(value) && value >= 1 && value <= LIST_LIMIT_MAX)
  return isFine ? undefined : { field, message: `must be from 1 to ${LIST_LIMIT_MAX}` }
}
