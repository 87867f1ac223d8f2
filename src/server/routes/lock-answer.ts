import type { LockAnswer, UnlockAnswer } from '../../wire/json/operation-body.ts'
import type { Finished, OutcomeOf, RefusalCode, Refused } from '../../law/model/outcomes.ts'
import type { Begin } from '../../law/model/commands.ts'
import type { JsonAnswer } from '../http/exchange.ts'
import { badRequest, HttpError } from '../http/http-error.ts'

/**
 * The answers to `/lock` and `/unlock`. Clients in the field look for words in the error texts: they try
 * again where one has `timeout`, `connection`, `network`, `EOF` or `refused` in it. None of those may
 * stand where trying again is of no use, and so no name that a client chose is in these texts either.
 */
export function toLockAnswer(outcome: OutcomeOf<Begin>): JsonAnswer {
  switch (outcome.kind) {
    case 'granted':
      return ok({
        acquired: true,
        skip: false,
        token: outcome.token,
        lease_ms: outcome.leaseMs,
        message: 'the lock is yours',
        error: '',
      })
    case 'queued':
      return ok({
        acquired: false,
        skip: false,
        queued: true,
        position: outcome.position,
        message: 'you are in the queue',
        error: '',
      })
    case 'skip':
      return ok({
        acquired: false,
        skip: true,
        value: outcome.value === undefined ? null : JSON.parse(outcome.value),
        message: 'it is done already',
        error: '',
      })
    case 'dissolved':
      return ok({
        acquired: false,
        skip: false,
        queued: false,
        dissolved: true,
        nodes: [outcome.node],
        message: 'somebody has done it: look for yourself, and ask again if you must',
        error: '',
      })
    case 'refused':
      return refuseLock(outcome)
  }
}

function ok(body: LockAnswer): JsonAnswer {
  return { status: 200, body }
}

/** Why a node is not given the lock, for those refusals that an operation can meet. */
const REASONS: Partial<Record<RefusalCode, string>> = {
  in_use: 'nodes are using the resource',
  held: 'another node holds the lock, and this server does not queue',
  ended: 'the request was granted before and its hold has ended since',
  cancelled: 'the request was cancelled',
  abandoned: 'nobody asked for the waiting request for too long',
  disconnected: 'the session of the request has ended',
}

function refuseLock(refused: Refused): JsonAnswer {
  const { code, detail = '' } = refused
  switch (code) {
    case 'bad_request':
      throw badRequest(detail.includes('lane') ? 'subtype' : 'version', `is wrong: ${detail}`)
    case 'no_session':
      throw new HttpError(404, code, {
        message: 'there is no such session, or it has ended',
        details: { field: 'session' },
      })
    case 'limit':
      throw new HttpError(429, code, {
        message: 'too many wait already; try again, as after a timeout',
      })
    default: {
      const error = REASONS[code] ?? 'the lock is not given'
      const body = { acquired: false, skip: false, code, error, message: error }
      return { status: 403, body: { ...body, nodes: nodesOf(refused) } satisfies LockAnswer }
    }
  }
}

/** Those who are in the way. The owner of an operation is its type and its node. */
function nodesOf({ nodes, holders = [] }: Refused): readonly string[] {
  return nodes ?? holders.map(({ owner }) => owner.slice(owner.indexOf(':') + 1))
}

export function toUnlockAnswer(outcome: Finished | Refused): JsonAnswer {
  if (outcome.kind === 'finished') {
    const message = outcome.success ? 'released; it is done' : 'released; it has failed'
    return { status: 200, body: { released: true, message } satisfies UnlockAnswer }
  }
  const { code, end } = outcome
  const body: UnlockAnswer = { released: false, code, message: sayNotReleased(code, end) }
  return { status: 403, body }
}

function sayNotReleased(code: RefusalCode, end: string | undefined): string {
  if (code === 'stale_token') return 'you hold the lock under another token'
  if (end === undefined) return 'you do not hold the lock'
  return `you do not hold the lock any more: ${end}`
}
