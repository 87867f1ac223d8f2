import {
  ANY,
  answer,
  FLAG,
  IDEMPOTENT,
  type Json,
  list,
  object,
  operation,
  PROCESSING,
  schema,
  TEXT,
  text,
  WAIT,
  WHOLE,
} from './describe.ts'

const OUTCOME = object({ 'outcome!': TEXT })
const REFUSED = answer('Refused; `code` says why.', schema('Refused'))
const COORDINATION = { type: 'string', enum: ['server', 'client', 'mutex'] }
const ASKED = { 'type!': TEXT, 'resource!': TEXT, 'node!': TEXT }

const ANSWERS = { '200': answer('What happened.', OUTCOME), '403': REFUSED, '409': REFUSED }

function command(path: string, summary: string, body?: Json): Json {
  return operation(path, {
    summary,
    body,
    headers: IDEMPOTENT,
    answers: ANSWERS,
  })
}

const SESSION = '/v1/sessions/{session}'

/** The rest of the engine's contract, and what is around it. */
export const CONTRACT_PATHS: Json = {
  '/v1/begin': {
    post: operation('/v1/begin', {
      summary: 'Ask to run an operation, in the words of the law.',
      body: object({
        ...ASKED,
        version: TEXT,
        request_id: TEXT,
        ttl_ms: WHOLE,
        wait_ms: WAIT,
        lane: TEXT,
        session: TEXT,
        coordination: COORDINATION,
        meta: { type: 'object' },
      }),
      headers: PROCESSING,
      answers: ANSWERS,
    }),
  },
  '/v1/finish': {
    post: command(
      '/v1/finish',
      'Say how an operation ended, in the words of the law.',
      object({
        ...ASKED,
        'success!': FLAG,
        error: TEXT,
        value: ANY,
        token: WHOLE,
        request_id: TEXT,
        coordination: COORDINATION,
      }),
    ),
  },
  '/v1/withdraw': {
    post: command(
      '/v1/withdraw',
      'Leave the queue of an operation.',
      object({ ...ASKED, reason: TEXT }),
    ),
  },
  '/v1/unref': {
    post: command('/v1/unref', 'Drop references.', object({ resource: TEXT, 'node!': TEXT })),
  },
  '/v1/sweep': { post: command('/v1/sweep', 'Remove what has expired, by an admin.', object({})) },
  [SESSION]: {
    put: command(
      SESSION,
      'Open a session, or come back to it.',
      object({ 'grace_ms!': WHOLE, keeps_leases: FLAG }),
    ),
    post: command(SESSION, 'Say that the client is alive.', object({})),
    delete: command(SESSION, 'Say good-bye: what the session held ends now.'),
  },
  '/v1/references': {
    get: operation('/v1/references', {
      summary: 'Which nodes reference a resource.',
      query: { 'resource!': TEXT },
      answers: {
        '200': answer(
          'The nodes.',
          object({
            'resource!': TEXT,
            'count!': WHOLE,
            'nodes!': list(TEXT),
            'unclaimed!': list(TEXT),
          }),
        ),
      },
    }),
  },
  '/v1/session': {
    get: operation('/v1/session', {
      summary: 'Open a session over a WebSocket, the fast way to everything.',
      answers: {
        '101': { description: 'The WebSocket is open; the protocol is described elsewhere.' },
        '426': answer(
          'The request asks for no WebSocket, or for one of another version.',
          schema('Error'),
        ),
      },
    }),
  },
  '/v1/stats': {
    get: operation('/v1/stats', {
      summary: 'How much there is of everything.',
      answers: {
        '200': answer('Counts.', object({ holds: WHOLE, waiters: WHOLE, sessions: WHOLE })),
      },
    }),
  },
  '/v1/capabilities': {
    get: operation('/v1/capabilities', {
      summary: 'What the engine promises beyond the law, and what it cannot.',
      answers: { '200': answer('Promises.', object({ 'name!': TEXT, 'durable!': FLAG })) },
    }),
  },
  '/healthz': {
    get: operation('/healthz', {
      summary: 'Whether the server is alive.',
      answers: { '200': answer('It is.', object({ 'status!': TEXT })) },
      isOpen: true,
    }),
  },
  '/readyz': {
    get: operation('/readyz', {
      summary: 'Whether the engine answers.',
      answers: {
        '200': answer('It does.', object({ 'status!': TEXT })),
        '503': answer('It does not.', schema('Error')),
      },
      isOpen: true,
    }),
  },
  '/metrics': {
    get: operation('/metrics', {
      summary: 'Metrics in the Prometheus text format.',
      answers: { '200': text('Metrics.', 'text/plain') },
    }),
  },
  '/openapi.json': {
    get: operation('/openapi.json', {
      summary: 'This description.',
      answers: { '200': answer('OpenAPI 3.1.', object({ 'openapi!': TEXT })) },
      isOpen: true,
    }),
  },
  '/': {
    get: operation('/', {
      summary: 'The state as a page for people.',
      answers: { '200': text('A page.', 'text/html') },
    }),
  },
}
