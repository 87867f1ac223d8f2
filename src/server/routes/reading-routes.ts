import type { Query } from '../../engine/queries.ts'
import { writeReply } from '../../wire/json/reply-body.ts'
import * as field from '../http/field-types.ts'
import type { Asked, FieldTable } from '../http/fields.ts'
import { createRoute, type NoFields, type Route, type RouteOptions } from '../http/route.ts'
import { answer } from '../openapi/schema-words.ts'

const KEY_IN_PATH = { key: { ...field.KEY, needed: true } } as const
/** Where many are listed, both are unless one is named; a single key is a lock unless this is said. */
const OF_ONE_KEY = { ...field.NAMESPACE, byDefault: 'lock' } as const
const SHOWN = { ...field.SHOWN_MAX, byDefault: 100 } as const

/** What can be read of the state. */
export const READING_ROUTES: readonly Route[] = [
  readingRoute({
    id: 'listLocks',
    path: '/v1/locks',
    summary: 'What is held or waited for, in key order.',
    query: {
      prefix: { ...field.TEXT, about: 'Of the key.' },
      owner: field.ANY_OWNER,
      namespace: field.NAMESPACE,
      limit: SHOWN,
      cursor: { ...field.TEXT, about: 'That of the page before.' },
    },
    answers: { 200: answer('A page.', 'LockPage') },
    toQuery: (asked) => ({ kind: 'list', ...asked }),
  }),
  readingRoute({
    id: 'inspectLock',
    path: '/v1/locks/{key}',
    summary: 'Who holds a key and who waits. A free key has empty lists.',
    parameters: KEY_IN_PATH,
    query: { namespace: OF_ONE_KEY, queueLimit: SHOWN },
    answers: { 200: answer('The key.', 'Lock') },
    toQuery: (asked) => ({ kind: 'inspect', ...asked }),
  }),
  readingRoute({
    id: 'showStanding',
    path: '/v1/locks/{key}/standing',
    summary: 'Where one owner stands on a key.',
    parameters: KEY_IN_PATH,
    query: { owner: { ...field.ANY_OWNER, needed: true }, namespace: OF_ONE_KEY },
    answers: { 200: answer('Its hold and its places in the queue.', 'Standing') },
    toQuery: (asked) => ({ kind: 'standing', ...asked }),
  }),
  readingRoute({
    id: 'listReferences',
    path: '/v1/references',
    summary: 'Which nodes reference a resource.',
    query: { resource: { ...field.RESOURCE, needed: true } },
    answers: { 200: answer('The nodes.', 'References') },
    toQuery: (asked) => ({ kind: 'references', ...asked }),
  }),
  readingRoute({
    id: 'showStats',
    path: '/v1/stats',
    summary: 'How much there is of everything.',
    answers: { 200: answer('Counts.', 'Stats') },
    toQuery: () => ({ kind: 'stats' }),
  }),
  readingRoute({
    id: 'listHistory',
    path: '/v1/history',
    summary: 'The last holds that ended, newest first.',
    query: { key: field.KEY, namespace: field.NAMESPACE, limit: SHOWN },
    answers: { 200: answer('Holds.', 'History') },
    toQuery: (asked) => ({ kind: 'history', ...asked }),
  }),
]

interface ReadingOptions<Path extends FieldTable, Search extends FieldTable>
  extends Omit<RouteOptions<Path, Search, NoFields>, 'method' | 'access' | 'handle'> {
  toQuery(asked: Asked<Path> & Asked<Search>): Query
}

function readingRoute<Path extends FieldTable = NoFields, Search extends FieldTable = NoFields>({
  toQuery,
  ...options
}: ReadingOptions<Path, Search>): Route {
  return createRoute<Path, Search>({
    ...options,
    method: 'GET',
    access: 'client',
    handle: async (exchange, asked) => {
      const query = toQuery(asked)
      const reply = await exchange.engine.read(query)
      exchange.send(200, writeReply(query, reply, exchange.context.clock.wallMs()))
    },
  })
}
