import {
  ANY,
  answer,
  FLAG,
  type Json,
  object,
  operation,
  PROCESSING,
  RESUMED,
  schema,
  list,
  TEXT,
  text,
  WAIT,
  WHOLE,
} from './describe.ts'

const ASKED = { 'type!': TEXT, 'resource_id!': TEXT, 'node_id!': TEXT }
const LISTENED = { 'type!': TEXT, 'resource_id!': TEXT, node_id: TEXT, session: TEXT }
const REFERENCES = object({ 'resource_id!': TEXT, 'count!': WHOLE, 'nodes!': list(TEXT) })
const STREAM = text('A stream.', 'text/event-stream')

/** Pull, update, delete: for nodes that share what they work on. */
export const OPERATION_PATHS: Json = {
  '/lock': {
    post: operation('/lock', {
      summary: 'Ask to run an operation.',
      body: object({
        ...ASKED,
        subtype: TEXT,
        session: TEXT,
        ttl_ms: WHOLE,
        wait_ms: WAIT,
        request_id: TEXT,
        version: TEXT,
      }),
      headers: PROCESSING,
      answers: {
        '200': answer('Acquired, queued, or already done (`skip`).', schema('LockAnswer')),
        '403': answer('In use, or held where nobody queues.', schema('LockAnswer')),
      },
    }),
  },
  '/unlock': {
    post: operation('/unlock', {
      summary: 'Say how an operation ended.',
      body: object({
        ...ASKED,
        error: TEXT,
        success: FLAG,
        token: WHOLE,
        value: ANY,
        request_id: TEXT,
      }),
      answers: {
        '200': answer('Released.', object({ 'released!': FLAG, 'message!': TEXT })),
        '403': answer(
          'Not the holder.',
          object({ 'released!': FLAG, code: TEXT, 'message!': TEXT }),
        ),
      },
    }),
  },
  '/lock/status': {
    post: operation('/lock/status', {
      summary: 'How things stand for one node.',
      body: object({ ...ASKED, version: TEXT }),
      answers: { '200': answer('The standing.', schema('Status')) },
    }),
    get: operation('/lock/status', {
      summary: 'How things stand.',
      query: { 'type!': TEXT, 'resource_id!': TEXT },
      answers: { '200': answer('The state.', schema('Status')) },
    }),
  },
  '/lock/subscribe': {
    get: operation('/lock/subscribe', {
      summary: 'How operations on a resource end, and who is next, as Server-Sent Events.',
      query: LISTENED,
      headers: RESUMED,
      answers: { '200': STREAM },
    }),
  },
  '/subscribe': {
    get: operation('/subscribe', {
      summary: 'The same as /lock/subscribe.',
      query: LISTENED,
      headers: RESUMED,
      answers: { '200': STREAM },
    }),
  },
  '/refs': {
    get: operation('/refs', {
      summary: 'Which nodes reference a resource.',
      query: { 'resource_id!': TEXT },
      answers: { '200': answer('The nodes.', REFERENCES) },
    }),
  },
  '/unref': {
    post: operation('/unref', {
      summary: 'Drop a reference of a node, or all of them.',
      body: object({ resource_id: TEXT, 'node_id!': TEXT }),
      answers: {
        '200': answer('What was removed.', object({ 'removed!': ANY, count: WHOLE })),
      },
    }),
  },
}
