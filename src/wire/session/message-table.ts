import type { SessionMessage } from './session-message.ts'

/**
 * How one field crosses the wire; with a question mark it may be absent.
 *
 * - `mode`: 1 for write, 0 for read. `wait`: milliseconds, -1 for a wait without an end.
 * - `session`: the empty text means the session of the connection.
 * - `json`: plain data as JSON text, for what is rare and has no fixed form.
 */
export type FieldType = 'text' | 'number' | 'flag' | 'mode' | 'wait' | 'session' | 'json'

type Kind = SessionMessage['kind']
type FieldOf<K extends Kind> = Exclude<keyof Extract<SessionMessage, { kind: K }>, 'kind'>
type Row<K extends Kind> = readonly [
  code: number,
  fields: Readonly<Record<FieldOf<K>, FieldType | `${FieldType}?`>>,
]

/**
 * The one place that says how messages look: a code, and the fields in the order of their positions. Fields
 * that are usually absent come last, where they cost nothing. Codes below `SERVER_CODE_MIN` are a client's.
 */
export const MESSAGE_TABLE: { readonly [K in Kind]: Row<K> } = {
  hello: [1, { client: 'text', session: 'text?', isHeartbeatOnly: 'flag?' }],
  heartbeat: [2, {}],
  goodbye: [3, {}],
  read: [4, { query: 'json' }],
  watch: [5, { watch: 'number', prefix: 'text?', namespace: 'text?' }],
  unwatch: [6, { watch: 'number' }],

  acquire: [
    16,
    {
      key: 'text',
      owner: 'text',
      requestId: 'text',
      mode: 'mode?',
      ttlMs: 'number?',
      waitMs: 'wait?',
      session: 'session?',
      party: 'text?',
      lane: 'text?',
      meta: 'text?',
      detach: 'flag?',
    },
  ],
  release: [
    17,
    { key: 'text', owner: 'text', mode: 'mode?', token: 'number?', requestId: 'text?' },
  ],
  renew: [18, { key: 'text', owner: 'text', ttlMs: 'number', token: 'number?' }],
  cancel: [
    19,
    { key: 'text', owner: 'text', requestId: 'text?', reason: 'text?', namespace: 'text?' },
  ],
  force: [20, { key: 'text', owner: 'text?', namespace: 'text?' }],
  begin: [
    21,
    {
      type: 'text',
      resource: 'text',
      node: 'text',
      requestId: 'text?',
      ttlMs: 'number?',
      waitMs: 'wait?',
      session: 'session?',
      version: 'text?',
      lane: 'text?',
      coordination: 'text?',
      meta: 'text?',
    },
  ],
  finish: [
    22,
    {
      type: 'text',
      resource: 'text',
      node: 'text',
      success: 'flag',
      token: 'number?',
      requestId: 'text?',
      value: 'text?',
      error: 'text?',
      coordination: 'text?',
    },
  ],
  unref: [24, { node: 'text', resource: 'text?' }],
  'open-session': [25, { session: 'text', graceMs: 'number', keepsLeases: 'flag?' }],
  'touch-session': [26, { session: 'text' }],
  'close-session': [27, { session: 'text' }],
  sweep: [28, {}],

  welcome: [
    64,
    {
      session: 'text',
      graceMs: 'number',
      heartbeatMs: 'number',
      losses: 'number',
      capabilities: 'json',
    },
  ],
  heard: [65, { losses: 'number' }],
  failed: [66, { code: 'text', message: 'text', applied: 'text', details: 'json?' }],
  reply: [67, { reply: 'json' }],
  done: [68, {}],
  event: [69, { event: 'json' }],
  lost: [70, { namespace: 'text?', key: 'text?', owner: 'text?', token: 'number?', end: 'text?' }],

  granted: [
    80,
    { mode: 'mode', token: 'number', reads: 'number', writes: 'number', leaseMs: 'number' },
  ],
  queued: [81, { position: 'number' }],
  skip: [82, { value: 'text?' }],
  dissolved: [83, { node: 'text' }],
  released: [84, { reads: 'number', writes: 'number' }],
  renewed: [85, { token: 'number', leaseMs: 'number' }],
  cancelled: [86, { cancelled: 'flag' }],
  finished: [87, { success: 'flag' }],
  forced: [88, { count: 'number' }],
  unreferenced: [89, { removed: 'number', count: 'number' }],
  'session-opened': [90, { resumed: 'flag' }],
  'session-touched': [91, {}],
  'session-closed': [92, { ended: 'number' }],
  swept: [93, { count: 'number' }],
  refused: [
    94,
    {
      code: 'text',
      holders: 'json?',
      cycle: 'json?',
      nodes: 'json?',
      end: 'text?',
      detail: 'text?',
    },
  ],
}

export const SERVER_CODE_MIN = 64
