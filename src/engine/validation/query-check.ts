import type { WatchFilter } from '../engine.ts'
import type { Query } from '../queries.ts'
import { QUERY_LIMIT_MAX } from './query-limits.ts'
import { anyOwner, type Check, key, may, namespace, need, type Problem } from './validate.ts'

/** What no name begins with is a mistake, and not every store could be asked for it. */
const prefix: Check = (value) => (value === '' ? undefined : key(value))

/** A cursor is the place of the last lock shown, as `placeOf` writes it. */
const cursor: Check = (value) =>
  // oxlint-disable-next-line no-control-regex -- the separator is one that no key contains
  typeof value === 'string' && /\u0000[01]$/.test(value) && key(value.slice(0, -2)) === undefined
    ? undefined
    : 'must be that of the reply before'

const limit: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= QUERY_LIMIT_MAX
    ? undefined
    : `must be from 1 to ${QUERY_LIMIT_MAX}`

/** What is wrong with a query; `undefined` when it is well formed. */
export function problemWithQuery(query: Query): Problem | undefined {
  switch (query.kind) {
    case 'inspect':
      return (
        need('key', query.key, key) ??
        may('namespace', query.namespace, namespace) ??
        may('queueLimit', query.queueLimit, limit)
      )
    case 'standing':
      return (
        need('key', query.key, key) ??
        need('owner', query.owner, anyOwner) ??
        may('namespace', query.namespace, namespace)
      )
    case 'references':
      return need('resource', query.resource, key)
    case 'list':
      return (
        may('limit', query.limit, limit) ??
        may('namespace', query.namespace, namespace) ??
        may('prefix', query.prefix, prefix) ??
        may('owner', query.owner, anyOwner) ??
        may('cursor', query.cursor, cursor)
      )
    case 'history':
      return (
        may('key', query.key, key) ??
        may('namespace', query.namespace, namespace) ??
        may('limit', query.limit, limit)
      )
    case 'stats':
      return undefined
    default:
      return { field: 'kind', message: 'names no query' }
  }
}

/** What is wrong with the filter of a watch. */
export function problemWithFilter(filter: WatchFilter): Problem | undefined {
  return may('prefix', filter.prefix, prefix) ?? may('namespace', filter.namespace, namespace)
}
