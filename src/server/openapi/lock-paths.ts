import {
  answer,
  FLAG,
  IDEMPOTENT,
  type Json,
  KIND,
  KIND_OF_KEY,
  list,
  MODE,
  object,
  operation,
  PROCESSING,
  RESUMED,
  schema,
  TEXT,
  text,
  WAIT,
  WHOLE,
} from './describe.ts'

const REFUSED = answer('Refused; `code` says why.', schema('Refused'))
const ASKED = { 'key!': TEXT, 'owner!': TEXT }
const ACQUIRE = object({
  ...ASKED,
  mode: { ...MODE, default: 'write' },
  ttl_ms: { ...WHOLE, default: 30_000 },
  wait_ms: WAIT,
  detach: { ...FLAG, description: 'Answer `queued` at once; needs a `wait_ms`.' },
  request_id: { ...TEXT, description: 'The same on every retry of one request.' },
  party: TEXT,
  lane: TEXT,
  session: TEXT,
  meta: { type: 'object', description: 'Shown to operators.' },
})

/** Locks: asking, giving back, looking. */
export const LOCK_PATHS: Json = {
  '/v1/acquire': {
    post: operation('/v1/acquire', {
      summary: 'Ask for a lock, and wait for it if `wait_ms` says so.',
      body: ACQUIRE,
      headers: PROCESSING,
      answers: {
        '200': answer('Granted, or queued with `detach`.', {
          oneOf: [schema('Granted'), schema('Queued')],
        }),
        '409': REFUSED,
      },
    }),
  },
  '/v1/release': {
    post: operation('/v1/release', {
      summary: 'Give up one step of a hold.',
      body: object({ ...ASKED, mode: MODE, token: WHOLE, request_id: TEXT }),
      headers: IDEMPOTENT,
      answers: {
        '200': answer(
          'Given up; what is left of the hold.',
          object({ 'released!': FLAG, reads: WHOLE, writes: WHOLE }),
        ),
        '403': REFUSED,
      },
    }),
  },
  '/v1/renew': {
    post: operation('/v1/renew', {
      summary: 'Make the lease of a hold later.',
      body: object({ ...ASKED, 'ttl_ms!': WHOLE, token: WHOLE }),
      headers: IDEMPOTENT,
      answers: {
        '200': answer('Renewed.', object({ 'renewed!': FLAG, token: WHOLE, lease_ms: WHOLE })),
        '403': REFUSED,
      },
    }),
  },
  '/v1/cancel': {
    post: operation('/v1/cancel', {
      summary: 'Leave the queue, and undo a grant that was not yet taken.',
      body: object({
        ...ASKED,
        request_id: TEXT,
        reason: { type: 'string', enum: ['cancelled', 'abandoned'] },
      }),
      headers: IDEMPOTENT,
      answers: { '200': answer('Whether there was something.', object({ 'cancelled!': FLAG })) },
    }),
  },
  '/v1/batch': {
    post: operation('/v1/batch', {
      summary: 'Up to 1,000 commands that do not wait, in order.',
      body: list(object({ 'op!': TEXT })),
      headers: IDEMPOTENT,
      answers: { '200': answer('The answers in order.', list(object({ 'status!': WHOLE }))) },
    }),
  },
  '/v1/locks': {
    get: operation('/v1/locks', {
      summary: 'What is held or waited for, in key order.',
      query: { prefix: TEXT, owner: TEXT, kind: KIND, limit: WHOLE, cursor: TEXT },
      answers: {
        '200': answer(
          'A page.',
          object({ 'locks!': list(schema('Lock')), 'cursor!': { type: ['string', 'null'] } }),
        ),
      },
    }),
  },
  '/v1/locks/{key}': {
    get: operation('/v1/locks/{key}', {
      summary: 'Who holds a key and who waits. A free key has empty lists.',
      query: { kind: KIND_OF_KEY, queue_limit: WHOLE },
      answers: { '200': answer('The key.', schema('Lock')) },
    }),
    delete: operation('/v1/locks/{key}', {
      summary: 'Force release, by an admin.',
      query: { owner: TEXT, kind: KIND_OF_KEY },
      headers: IDEMPOTENT,
      answers: {
        '200': answer('How many holds ended.', object({ 'forced!': WHOLE })),
        '403': answer('Not an admin.', schema('Error')),
      },
    }),
  },
  '/v1/locks/{key}/standing': {
    get: operation('/v1/locks/{key}/standing', {
      summary: 'Where one owner stands on a key.',
      query: { 'owner!': TEXT, kind: KIND_OF_KEY },
      answers: {
        '200': answer(
          'Its hold and its places in the queue.',
          object({
            'holder!': { oneOf: [schema('Holder'), { type: 'null' }] },
            'waiting!': list(schema('Waiter')),
          }),
        ),
      },
    }),
  },
  '/v1/history': {
    get: operation('/v1/history', {
      summary: 'The last holds that ended, newest first.',
      query: { key: TEXT, kind: KIND, limit: WHOLE },
      answers: {
        '200': answer('Holds.', object({ 'history!': list(schema('HistoryEntry')) })),
      },
    }),
  },
  '/v1/events': {
    get: operation('/v1/events', {
      summary: 'Every change, as Server-Sent Events; `Last-Event-ID` resumes.',
      query: { prefix: TEXT, kind: KIND, session: TEXT },
      headers: RESUMED,
      answers: { '200': text('A stream.', 'text/event-stream') },
    }),
  },
}
