import type { Begin } from '../../law/model/commands.ts'
import type { OutcomeOf } from '../../law/model/outcomes.ts'
import type { Exchange } from '../http/exchange.ts'
import * as field from '../http/field-types.ts'
import type { Asked } from '../http/fields.ts'
import { badRequest } from '../http/http-error.ts'
import { createRoute, type Route } from '../http/route.ts'
import { answer } from '../openapi/schema-words.ts'
import type { ServerContext } from '../server-context.ts'
import { toLockAnswer, toUnlockAnswer } from '../routes/lock-answer.ts'

const WORK = {
  type: { ...field.OPERATION_TYPE, needed: true },
  resource: { ...field.RESOURCE, wire: 'resource_id', needed: true },
  node: { ...field.NODE, wire: 'node_id', needed: true },
} as const

const LOCK = {
  ...WORK,
  lane: {
    ...field.ID,
    wire: 'subtype',
    about: 'The lane, where lanes are configured; ignored elsewhere. The `type` by default.',
  },
  session: field.SESSION,
  ttlMs: { ...field.TTL, about: 'The lease in milliseconds; asking again renews it.' },
  waitMs: { ...field.WAIT, byDefault: 0 },
  requestId: field.REQUEST_ID,
  version: field.VERSION,
} as const

const UNLOCK = {
  ...WORK,
  error: field.ERROR_TEXT,
  success: { ...field.FLAG, byDefault: true },
  token: field.TOKEN,
  value: field.VALUE,
  requestId: field.REQUEST_ID,
} as const

/** Begin an operation and say how it ended, for the clients of the lock servers that came before. */
export const OPERATION_ROUTES: readonly Route[] = [
  createRoute({
    id: 'lock',
    method: 'POST',
    path: '/lock',
    access: 'client',
    summary: 'Ask to run an operation.',
    body: LOCK,
    headers: ['Prefer'],
    answers: {
      200: answer('Acquired, queued, or already done (`skip`).', 'LockAnswer'),
      403: answer('In use, or held by a server that does not queue.', 'LockRefused'),
      404: answer('There is no such session.', 'Error'),
    },
    handle: lock,
  }),
  createRoute({
    id: 'unlock',
    method: 'POST',
    path: '/unlock',
    access: 'client',
    summary: 'Say how an operation ended.',
    body: UNLOCK,
    answers: {
      200: answer('Released.', 'Unlocked'),
      403: answer('Not the holder.', 'NotUnlocked'),
    },
    handle: unlock,
  }),
]

async function lock(exchange: Exchange, asked: Asked<typeof LOCK>): Promise<void> {
  const { context } = exchange
  const begin: Begin = {
    kind: 'begin',
    ...asked,
    lane: laneOf(context, asked.lane),
    coordination: context.settings.coordination,
  }
  // A client that named its request or its session can come back for what it was waiting for.
  const isNamed = asked.requestId !== undefined || asked.session !== undefined
  const outcome = await context.held.ask(exchange, begin, isNamed)
  if (outcome.kind === 'granted') context.operations.claim(asked.resource, outcome.token)
  const { status, body } = toLockAnswer(outcome as OutcomeOf<Begin>)
  exchange.send(status, body)
}

/** A subtype means nothing where there are no lanes. */
function laneOf({ settings }: ServerContext, subtype: string | undefined): string | undefined {
  if (settings.lanes.length === 0 || subtype === undefined) return undefined
  if (!settings.lanes.includes(subtype)) {
    throw badRequest('subtype', `must be one of ${settings.lanes.join(', ')}`)
  }
  return subtype
}

async function unlock(exchange: Exchange, asked: Asked<typeof UNLOCK>): Promise<void> {
  const { error = '', success = true } = asked
  const outcome = await exchange.engine.apply({
    kind: 'finish',
    ...asked,
    success: success && error === '',
    error: error === '' ? undefined : error,
    coordination: exchange.context.settings.coordination,
  })
  const { status, body } = toUnlockAnswer(outcome)
  exchange.send(status, body)
}
