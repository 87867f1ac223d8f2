import { ownerOf } from '../../law/operations.ts'
import { snakeKeys } from '../../wire/json/key-case.ts'
import * as field from '../http/field-types.ts'
import { createRoute, type Route } from '../http/route.ts'
import { checkSubject } from '../operations/operation-state.ts'
import { answer } from '../openapi/schema-words.ts'
import { type CommandRoute, commandRoute } from './command-route.ts'

const WORK = {
  type: { ...field.OPERATION_TYPE, needed: true },
  resource: { ...field.RESOURCE, needed: true },
  node: { ...field.NODE, needed: true },
} as const

/** Operations in the words of the law. */
export const WORK_ROUTES: readonly CommandRoute[] = [
  commandRoute({
    id: 'begin',
    path: '/v1/begin',
    summary: 'Ask to run an operation, in the words of the law.',
    body: {
      ...WORK,
      version: field.VERSION,
      requestId: field.REQUEST_ID,
      ttlMs: field.TTL,
      waitMs: { ...field.WAIT, byDefault: 0 },
      lane: field.LANE,
      session: field.SESSION,
      coordination: field.COORDINATION,
      meta: field.META,
    },
    answers: {
      200: answer(
        'Granted, queued, or done by another.',
        'OperationGranted',
        'Queued',
        'Skip',
        'Dissolved',
      ),
    },
    refusals: [
      'held',
      'in_use',
      'cancelled',
      'abandoned',
      'disconnected',
      'ended',
      'no_session',
      'bad_request',
      'limit',
    ],
    toCommand: (asked) => ({ kind: 'begin', ...asked }),
  }),
  commandRoute({
    id: 'finish',
    path: '/v1/finish',
    summary: 'Say how an operation ended, in the words of the law.',
    body: {
      ...WORK,
      success: { ...field.FLAG, needed: true },
      error: field.ERROR_TEXT,
      value: field.VALUE,
      token: field.TOKEN,
      requestId: field.REQUEST_ID,
      coordination: field.COORDINATION,
    },
    answers: { 200: answer('It has ended.', 'Finished') },
    refusals: ['not_holder', 'stale_token'],
    toCommand: (asked) => ({ kind: 'finish', ...asked }),
  }),
  commandRoute({
    id: 'withdraw',
    path: '/v1/withdraw',
    summary: 'Leave the queue of an operation.',
    body: { ...WORK, requestId: field.REQUEST_ID, reason: field.REASON },
    answers: { 200: answer('Whether there was something.', 'Cancelled') },
    toCommand: (asked) => {
      checkSubject(asked)
      const { resource: key, requestId, reason } = asked
      const owner = ownerOf(asked)
      return { kind: 'cancel', namespace: 'operation', key, owner, requestId, reason }
    },
  }),
  commandRoute({
    id: 'unreference',
    path: '/v1/unref',
    summary: 'Drop a reference of a node, or all of them.',
    body: { resource: field.RESOURCE, node: { ...field.NODE, needed: true } },
    answers: { 200: answer('What was removed, and what is left.', 'Unreferenced') },
    toCommand: (asked) => ({ kind: 'unref', ...asked }),
  }),
]

const NAMED = { session: { ...field.SESSION, needed: true } } as const
const SESSION_PATH = '/v1/sessions/{session}'

/** Sessions by name, sweeping, and what the engine promises. */
export const CONTRACT_ROUTES: readonly Route[] = [
  commandRoute({
    id: 'openSession',
    method: 'PUT',
    path: SESSION_PATH,
    summary: 'Open a session, or come back to it.',
    parameters: NAMED,
    body: {
      graceMs: { ...field.GRACE, needed: true },
      keepsLeases: {
        ...field.FLAG,
        about: 'Whether a sign of life renews the leases of what is held in it.',
        byDefault: true,
      },
    },
    answers: { 200: answer('It is open.', 'SessionOpened') },
    refusals: ['no_session'],
    toCommand: (asked) => ({ kind: 'open-session', ...asked }),
  }),
  commandRoute({
    id: 'touchSession',
    path: SESSION_PATH,
    summary: 'Say that the client is alive.',
    parameters: NAMED,
    answers: { 200: answer('Heard.', 'SessionTouched') },
    refusals: ['no_session'],
    toCommand: (asked) => ({ kind: 'touch-session', ...asked }),
  }),
  commandRoute({
    id: 'closeSession',
    method: 'DELETE',
    path: SESSION_PATH,
    summary: 'Say good-bye: what the session held ends now.',
    parameters: NAMED,
    answers: { 200: answer('It has ended.', 'SessionClosed') },
    refusals: ['no_session'],
    toCommand: (asked) => ({ kind: 'close-session', ...asked }),
  }),
  commandRoute({
    id: 'sweep',
    path: '/v1/sweep',
    access: 'admin',
    summary: 'Remove what has expired, by an operator.',
    answers: { 200: answer('How much there was.', 'Swept') },
    toCommand: () => ({ kind: 'sweep' }),
  }),
  createRoute({
    id: 'showCapabilities',
    method: 'GET',
    path: '/v1/capabilities',
    access: 'client',
    summary: 'What the engine promises beyond the law, and what it cannot.',
    answers: { 200: answer('What it promises.', 'Capabilities') },
    handle: (exchange) => exchange.send(200, snakeKeys(exchange.engine.capabilities)),
  }),
]
