import * as field from '../http/field-types.ts'
import { answer } from '../openapi/schema-words.ts'
import { nameRequest } from './answer-command.ts'
import { type CommandRoute, commandRoute } from './command-route.ts'

const HOLDER = {
  key: { ...field.KEY, needed: true },
  owner: { ...field.OWNER, needed: true },
} as const

/** Commands on locks. */
export const LOCK_ROUTES: readonly CommandRoute[] = [
  commandRoute({
    id: 'acquire',
    path: '/v1/acquire',
    summary: 'Ask for a lock, and wait for it if `wait_ms` says so.',
    body: {
      ...HOLDER,
      requestId: field.REQUEST_ID,
      mode: {
        ...field.MODE,
        about: 'A reader that asks for `write` becomes the writer when it is the only holder.',
        byDefault: 'write',
      },
      ttlMs: { ...field.TTL, byDefault: 30_000 },
      waitMs: { ...field.WAIT, byDefault: 0 },
      detach: {
        ...field.FLAG,
        about: 'Stand in the queue and answer `queued` at once; needs a `wait_ms`.',
        byDefault: false,
      },
      party: {
        ...field.ID,
        about: 'Who waits, where deadlocks are looked for; the owner by default.',
      },
      lane: field.LANE,
      session: field.SESSION,
      meta: field.META,
    },
    answers: { 200: answer('Granted, or queued with `detach`.', 'Granted', 'Queued') },
    refusals: [
      'held',
      'timeout',
      'cancelled',
      'abandoned',
      'disconnected',
      'upgrade_conflict',
      'deadlock',
      'ended',
      'not_holder',
      'no_session',
      'bad_request',
      'limit',
    ],
    toCommand: (asked) => ({
      kind: 'acquire',
      ...asked,
      requestId: asked.requestId ?? nameRequest(asked),
    }),
  }),
  commandRoute({
    id: 'release',
    path: '/v1/release',
    summary: 'Give up one step of a hold.',
    body: {
      ...HOLDER,
      mode: { ...field.MODE, about: 'Else `write` is given up before `read`.' },
      token: field.TOKEN,
      requestId: field.REQUEST_ID,
    },
    answers: { 200: answer('Given up; what is left of the hold.', 'Released') },
    refusals: ['not_holder', 'stale_token', 'bad_request'],
    toCommand: (asked) => ({ kind: 'release', ...asked }),
  }),
  commandRoute({
    id: 'renew',
    path: '/v1/renew',
    summary: 'Make the lease of a hold later.',
    body: { ...HOLDER, ttlMs: { ...field.TTL, needed: true }, token: field.TOKEN },
    answers: { 200: answer('Renewed.', 'Renewed') },
    refusals: ['not_holder', 'stale_token'],
    toCommand: (asked) => ({ kind: 'renew', ...asked }),
  }),
  commandRoute({
    id: 'cancel',
    path: '/v1/cancel',
    summary: 'Leave the queue, and undo a grant that was not yet taken.',
    body: {
      ...HOLDER,
      requestId: { ...field.REQUEST_ID, about: 'This request only; else all of the owner.' },
      reason: field.REASON,
    },
    answers: { 200: answer('Whether there was something.', 'Cancelled') },
    toCommand: (asked) => ({ kind: 'cancel', ...asked }),
  }),
]

/** An operator ends holds: those of one owner, or all of a key. */
export const FORCE_ROUTE: CommandRoute = commandRoute({
  id: 'forceRelease',
  method: 'DELETE',
  path: '/v1/locks/{key}',
  access: 'admin',
  summary: 'End the holds of a key, by an operator.',
  parameters: { key: { ...field.KEY, needed: true } },
  query: {
    owner: { ...field.ANY_OWNER, about: 'Those of this owner only.' },
    namespace: { ...field.NAMESPACE, byDefault: 'lock' },
  },
  answers: { 200: answer('How many holds ended.', 'Forced') },
  toCommand: (asked) => ({ kind: 'force', ...asked }),
})
