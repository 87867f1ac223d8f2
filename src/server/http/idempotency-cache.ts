import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../time/clock.ts'
import { RecentMap } from '../recent-map.ts'
import type { Exchange, JsonAnswer } from './exchange.ts'
import { badRequest, HttpError } from './http-error.ts'

const KEPT_MS = 60_000
const KEPT_MAX = 10_000
const KEY_CHARS_MAX = 256

interface Remembered {
  readonly fingerprint: string
  readonly answer: Promise<JsonAnswer>
}

/**
 * Answers to requests that carry an `idempotency-key`: a client that did not hear the answer sends the
 * request again and gets the same one, and nothing happens twice. For the commands to which the law
 * itself gives no request id.
 */
export class IdempotencyCache {
  readonly #recent: RecentMap<Remembered>

  constructor(clock: Clock) {
    this.#recent = new RecentMap({ clock, keptMs: KEPT_MS, keptMax: KEPT_MAX })
  }

  /** What `make` answers, or what it answered before. A failure is not remembered: nothing was done. */
  once(exchange: Exchange, make: () => Promise<JsonAnswer>): Promise<JsonAnswer> {
    if (!isToBeRemembered(exchange.request)) return make()
    const key = exchange.request.headers['idempotency-key']
    if (typeof key !== 'string' || key === '' || key.length > KEY_CHARS_MAX) {
      throw badRequest('idempotency-key', `must be 1 to ${KEY_CHARS_MAX} characters`)
    }
    const { name } = exchange.principal
    const fingerprint = fingerprintOf(exchange)
    const known = this.#recent.get(name, key)
    if (known === undefined) {
      const answer = make()
      const remembered = { fingerprint, answer }
      this.#recent.set(name, key, remembered)
      answer.catch(() => this.#recent.delete(name, key, remembered))
      return answer
    }
    if (known.fingerprint !== fingerprint) throw reused()
    return known.answer
  }
}

export function isToBeRemembered({ headers }: IncomingMessage): boolean {
  return headers['idempotency-key'] !== undefined
}

function fingerprintOf({ request, body }: Exchange): string {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(body ?? null)}`)
    .digest('base64')
}

function reused(): HttpError {
  return new HttpError(422, 'bad_request', {
    message: 'this idempotency-key was used for another request',
    details: { field: 'idempotency-key' },
  })
}
