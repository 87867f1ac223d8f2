import { REFUSAL_STATUS } from '../../wire/json/outcome-body.ts'
import type { Schema } from '../http/fields.ts'
import {
  ANY,
  FLAG,
  INSTANT,
  list,
  NUMBER,
  object,
  oneOf,
  orNull,
  ref,
  TEXT,
  WHOLE,
} from './schema-words.ts'

const MODE = oneOf('read', 'write')
const NAMESPACE = oneOf('lock', 'operation')
const TOKEN: Schema = { ...WHOLE, description: 'The fencing token: it only grows for a key.' }
const META: Schema = { type: 'object', additionalProperties: true }
const COUNTS = { reads: WHOLE, writes: WHOLE }
/** Of an operation; a lock has none of them. */
const WORK = { 'type?': TEXT, 'node?': TEXT, 'version?': TEXT }

const REFUSAL_CODE = oneOf(...Object.keys(REFUSAL_STATUS))

/** What becomes of commands. */
const OUTCOMES = {
  Granted: object({ outcome: oneOf('granted'), key: TEXT, owner: TEXT, ...grant() }),
  OperationGranted: object({
    outcome: oneOf('granted'),
    type: TEXT,
    resource: TEXT,
    node: TEXT,
    ...grant(),
  }),
  Queued: object({
    outcome: oneOf('queued'),
    position: { ...WHOLE, description: 'The next one is 1.' },
  }),
  Skip: object({ outcome: oneOf('skip'), 'value?': ANY }, 'It is done, and left this value.'),
  Dissolved: object(
    { outcome: oneOf('dissolved'), node: TEXT },
    'This node did it, and the queue is gone: look for yourself, and ask again if you must.',
  ),
  Released: object({ outcome: oneOf('released'), released: oneOf(true), ...COUNTS }),
  Renewed: object({
    outcome: oneOf('renewed'),
    renewed: oneOf(true),
    token: TOKEN,
    lease_ms: NUMBER,
  }),
  Cancelled: object({
    outcome: oneOf('cancelled'),
    cancelled: { ...FLAG, description: 'Whether there was something to cancel.' },
  }),
  Finished: object({ outcome: oneOf('finished'), success: FLAG }),
  Forced: object({
    outcome: oneOf('forced'),
    forced: { ...WHOLE, description: 'Holds that ended.' },
  }),
  Unreferenced: object({ outcome: oneOf('unreferenced'), removed: WHOLE, count: WHOLE }),
  SessionOpened: object({ outcome: oneOf('session-opened'), resumed: FLAG }),
  SessionTouched: object({ outcome: oneOf('session-touched') }),
  SessionClosed: object({
    outcome: oneOf('session-closed'),
    ended: { ...WHOLE, description: 'Holds and waiters that ended with it.' },
  }),
  Swept: object({ outcome: oneOf('swept'), count: WHOLE }),
  Refused: object({
    outcome: oneOf('refused'),
    'released?': oneOf(false),
    'renewed?': oneOf(false),
    code: REFUSAL_CODE,
    error: { ...TEXT, description: 'For people.' },
    'holders?': list(ref('HolderShown')),
    'cycle?': { ...list(TEXT), description: 'Who waits for whom, with `deadlock`.' },
    'nodes?': { ...list(TEXT), description: 'Who uses the resource, with `in_use`.' },
    'end?': { ...TEXT, description: 'How the hold ended.' },
    'detail?': TEXT,
  }),
}

function grant(): Readonly<Record<string, Schema>> {
  return { mode: MODE, token: TOKEN, ...COUNTS, lease_ms: NUMBER }
}

/** What there is. */
const STATE = {
  HolderShown: object({
    owner: TEXT,
    mode: MODE,
    token: TOKEN,
    held_ms: NUMBER,
    lease_ms: NUMBER,
  }),
  Holder: object({
    owner: TEXT,
    mode: MODE,
    ...COUNTS,
    token: TOKEN,
    held_ms: NUMBER,
    lease_ms: NUMBER,
    since: INSTANT,
    'session?': TEXT,
    'meta?': META,
    ...WORK,
  }),
  Waiter: object({
    owner: TEXT,
    request_id: TEXT,
    mode: MODE,
    position: WHOLE,
    waited_ms: NUMBER,
    since: INSTANT,
    upgrade: FLAG,
    'lane?': TEXT,
    'session?': TEXT,
    ...WORK,
  }),
  Remembered: object(
    {
      type: TEXT,
      'version?': TEXT,
      node: TEXT,
      'value?': ANY,
      ago_ms: NUMBER,
      completed_at: INSTANT,
      skips: { ...FLAG, description: 'Whether asking for the same is answered `skip`.' },
    },
    'A success.',
  ),
  Lock: object({
    kind: NAMESPACE,
    key: TEXT,
    token: { ...orNull(WHOLE), description: 'The highest of its holders.' },
    holders: list(ref('Holder')),
    queue: list(ref('Waiter')),
    queue_length: WHOLE,
    'references?': list(TEXT),
    'remembered?': list(ref('Remembered')),
  }),
  LockPage: object({
    locks: list(ref('Lock')),
    cursor: { ...orNull(TEXT), description: 'For the next page; `null` on the last one.' },
  }),
  Standing: object({ holder: orNull(ref('Holder')), waiting: list(ref('Waiter')) }),
  References: object({
    resource: TEXT,
    count: WHOLE,
    nodes: list(TEXT),
    unclaimed: { ...list(TEXT), description: 'Nodes that have yet to ask, or lose it.' },
  }),
  History: object({ history: list(ref('HistoryEntry')) }),
  HistoryEntry: object({
    kind: NAMESPACE,
    key: TEXT,
    owner: TEXT,
    mode: MODE,
    token: TOKEN,
    from: INSTANT,
    to: INSTANT,
    end: oneOf('released', 'expired', 'disconnected', 'forced', 'failed'),
  }),
  Stats: object({
    keys: WHOLE,
    holds: WHOLE,
    waiters: WHOLE,
    sessions: WHOLE,
    references: WHOLE,
    ended: WHOLE,
    'journal?': object({ syncs: WHOLE, bytes: WHOLE, compaction_failures: WHOLE }),
  }),
  Capabilities: object({
    name: TEXT,
    durable: FLAG,
    shared: FLAG,
    sees_deadlocks: FLAG,
    lease_granularity_ms: NUMBER,
    ttl_ms_min: NUMBER,
    wake_delay_ms_max: NUMBER,
    waiters_per_key_max: NUMBER,
    queue_survives_restart: FLAG,
    history: FLAG,
  }),
  Change: object({
    event: oneOf(
      'granted',
      'queued',
      'released',
      'expired',
      'cancelled',
      'disconnected',
      'forced',
      'refused',
      'completed',
    ),
    id: TEXT,
    at: INSTANT,
    kind: NAMESPACE,
    key: TEXT,
    owner: TEXT,
    'request_id?': TEXT,
    'mode?': MODE,
    'token?': TOKEN,
    'code?': REFUSAL_CODE,
    'end?': TEXT,
    'session?': TEXT,
    'type?': TEXT,
    'node?': TEXT,
    'success?': FLAG,
    'error?': TEXT,
    'value?': ANY,
  }),
  Reset: object(
    { event: oneOf('reset'), id: TEXT, at: INSTANT },
    'Events were missed: look at the state again.',
  ),
}

/** What the calls of operations answer. */
const OPERATIONS = {
  LockAnswer: object({
    acquired: FLAG,
    skip: { ...FLAG, description: 'It is done already, and left `value`.' },
    'queued?': FLAG,
    'position?': WHOLE,
    'dissolved?': {
      ...FLAG,
      description: 'The queue is gone: look for yourself, and ask again if you must.',
    },
    'nodes?': list(TEXT),
    'token?': TOKEN,
    'lease_ms?': NUMBER,
    'value?': ANY,
    message: TEXT,
    error: oneOf(''),
  }),
  LockRefused: object({
    acquired: oneOf(false),
    skip: oneOf(false),
    code: REFUSAL_CODE,
    nodes: { ...list(TEXT), description: 'Who is in the way.' },
    message: TEXT,
    error: TEXT,
  }),
  Unlocked: object({ released: oneOf(true), message: TEXT }),
  NotUnlocked: object({ released: oneOf(false), code: REFUSAL_CODE, message: TEXT }),
  ResourceStatus: object(status()),
  NodeStatus: object({ acquired: FLAG, ...status() }),
  ResourceReferences: object({ resource_id: TEXT, count: WHOLE, nodes: list(TEXT) }),
  Unreferencing: object({
    removed: {
      description:
        'Whether there was a reference; how many there were, where no resource was named.',
      anyOf: [FLAG, WHOLE],
    },
    'count?': WHOLE,
  }),
  OperationEvent: object({
    type: TEXT,
    resource_id: TEXT,
    node_id: { ...TEXT, description: 'Who did it, or who has the lock now.' },
    success: FLAG,
    error: TEXT,
    completed_at: INSTANT,
    'granted?': oneOf(true),
    'token?': TOKEN,
    'reset?': { ...oneOf(true), description: 'Events were missed: ask how things stand.' },
  }),
}

function status(): Readonly<Record<string, Schema>> {
  const waiter = object({ node_id: TEXT, type: TEXT, position: WHOLE })
  return {
    held: FLAG,
    holder: orNull(TEXT),
    type: orNull(TEXT),
    token: orNull(TOKEN),
    since: orNull(INSTANT),
    completed: FLAG,
    success: FLAG,
    queue: list(waiter),
    refs: object({ count: WHOLE, nodes: list(TEXT) }),
  }
}

/** The bodies of answers, by the names that clients which are made from the description give to their types. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({
    error: { ...TEXT, description: 'For people.' },
    code: oneOf(
      'bad_request',
      'unauthorized',
      'forbidden',
      'no_session',
      'too_large',
      'limit',
      'internal',
      'unavailable',
    ),
    'field?': { ...TEXT, description: 'The field that is wrong.' },
    'limit?': { ...NUMBER, description: 'The limit that was reached.' },
    'cause?': { ...TEXT, description: 'What the engine says, as in docs/errors.md.' },
    'retryable?': FLAG,
    'applied?': {
      ...oneOf('no', 'maybe'),
      description: 'Whether the request may have taken effect.',
    },
  }),
  Health: object({ status: TEXT }),
  ...OUTCOMES,
  ...STATE,
  ...OPERATIONS,
}
