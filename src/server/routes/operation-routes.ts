import type { Begin, Finish } from '../../law/commands.ts'
import type { OutcomeOf } from '../../law/outcomes.ts'
import { LOCK_FIELDS, UNLOCK_FIELDS } from '../../protocol/json/operation-body.ts'
import type { Exchange } from '../http/exchange.ts'
import { badRequest } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'
import type { ServerContext } from '../server-context.ts'
import { askAndHold } from '../waiting/ask-and-hold.ts'
import { toLockAnswer, toUnlockAnswer } from './lock-answer.ts'
import { inWireNames, readAsked } from './operation-names.ts'

/** Begin an operation and say how it ended, for the clients of the lock servers that came before. */
export const OPERATION_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/lock', access: 'client', handle: lock },
  { method: 'POST', path: '/unlock', access: 'client', handle: unlock },
]

interface LockAsked {
  readonly type: string
  readonly resourceId: string
  readonly nodeId: string
  readonly subtype?: string
  readonly session?: string
  readonly ttlMs?: number
  readonly waitMs?: number
  readonly requestId?: string
  readonly version?: string
}

async function lock(exchange: Exchange): Promise<void> {
  const asked = readAsked<LockAsked>(LOCK_FIELDS, exchange.body)
  const { context } = exchange
  const begin: Begin = {
    kind: 'begin',
    type: asked.type,
    resource: asked.resourceId,
    node: asked.nodeId,
    version: asked.version,
    requestId: asked.requestId,
    ttlMs: asked.ttlMs,
    waitMs: asked.waitMs,
    lane: laneOf(context, asked.subtype),
    session: asked.session,
    coordination: context.settings.coordination,
  }
  // A client that named its request or its session can come back for what it was waiting for.
  const isNamed = asked.requestId !== undefined || asked.session !== undefined
  const answer = askAndHold(exchange, begin, isNamed)
  const outcome = await inWireNames(Promise.resolve(answer))
  if (outcome.kind === 'granted') context.operations.claim(asked.resourceId, outcome.token)
  const { status, body } = toLockAnswer(outcome as OutcomeOf<Begin>)
  exchange.send(status, body)
}

/** A subtype means nothing where there are no lanes, whatever it is. */
function laneOf({ settings }: ServerContext, subtype: string | undefined): string | undefined {
  if (settings.lanes.length === 0 || subtype === undefined) return undefined
  if (!settings.lanes.includes(subtype)) {
    throw badRequest('subtype', `must be one of ${settings.lanes.join(', ')}`)
  }
  return subtype
}

interface UnlockAsked {
  readonly type: string
  readonly resourceId: string
  readonly nodeId: string
  readonly error?: string
  readonly success?: boolean
  readonly token?: number
  readonly value?: string
  readonly requestId?: string
}

async function unlock(exchange: Exchange): Promise<void> {
  const asked = readAsked<UnlockAsked>(UNLOCK_FIELDS, exchange.body)
  const { error = '', success = true } = asked
  const finish: Finish = {
    kind: 'finish',
    type: asked.type,
    resource: asked.resourceId,
    node: asked.nodeId,
    success: success && error === '',
    error: error === '' ? undefined : error,
    value: asked.value,
    token: asked.token,
    requestId: asked.requestId,
    coordination: exchange.context.settings.coordination,
  }
  const { status, body } = toUnlockAnswer(await inWireNames(exchange.engine.apply(finish)))
  exchange.send(status, body)
}
