import { createError } from '../../engine/errors/errors.ts'
import type { InspectReply, ListQuery, ListReply } from '../../engine/queries.ts'
import { LIST_SHOWN } from '../../engine/validation/query-limits.ts'
import { compareNames } from '../../engine/validation/names.ts'
import type { ListTurns } from './list-turns.ts'

/**
 * A page of a list, of the keys that begin with one of the given prefixes. Each prefix is asked for by
 * itself, in key order, so that neither the page nor its cursor says anything about other keys. The
 * cursor names the prefix and the engine's own place in it.
 */
export async function listByRights(
  lists: ListTurns,
  query: ListQuery,
  rights: readonly string[],
): Promise<ListReply> {
  const prefixes = narrow(rights, query.prefix ?? '')
  const limit = query.limit ?? LIST_SHOWN
  const locks: InspectReply[] = []
  let { index, cursor } = parseCursor(query.cursor)
  while (index < prefixes.length) {
    if (locks.length >= limit) return { locks, cursor: `${index}:` }
    const page = await lists.list({
      ...query,
      prefix: prefixes[index],
      limit: limit - locks.length,
      cursor,
    })
    locks.push(...page.locks)
    if (page.cursor !== null) return { locks, cursor: `${index}:${page.cursor}` }
    index += 1
    cursor = undefined
  }
  return { locks, cursor: null }
}

/** The part of each right that the wanted prefix leaves, none of them inside another, in key order. */
export function narrow(rights: readonly string[], wanted: string): readonly string[] {
  const parts = rights.flatMap((right) => {
    if (right.startsWith(wanted)) return [right]
    return wanted.startsWith(right) ? [wanted] : []
  })
  const outer = [...new Set(parts)].filter(
    (part) => !parts.some((other) => other !== part && part.startsWith(other)),
  )
  return outer.sort(compareNames)
}

function parseCursor(cursor: string | undefined): {
  readonly index: number
  readonly cursor: string | undefined
} {
  if (cursor === undefined) return { index: 0, cursor: undefined }
  const parts = /^(\d{1,6}):(.*)$/s.exec(cursor)
  if (parts === null) {
    throw createError('LOCK_INVALID_ARGUMENT', 'list: cursor is none of this list', {
      details: { field: 'cursor' },
    })
  }
  return { index: Number(parts[1]), cursor: parts[2] === '' ? undefined : parts[2] }
}
