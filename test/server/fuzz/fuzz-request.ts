import { ROUTES } from '../../../src/server/routes/routes.ts'
import type { Random } from '../../../src/testing/random.ts'
import { mutateText, nastyText, nastyValue } from './nasty-values.ts'

export interface FuzzRequest {
  readonly method: string
  /** With its query, percent-encoded or nearly so. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

const LOCK = { key: 'k', owner: 'o' }
const OPERATION = { type: 'pull', resource: 'r', node: 'n' }
const SEED = { type: 'pull', resource_id: 'r', node_id: 'n' }
const ASKED = { request_id: '1', mode: 'write', ttl_ms: 1000, wait_ms: 5, detach: false, meta: {} }

/** A body that each route takes, with everything that it may have. */
const BODIES: Readonly<Record<string, unknown>> = {
  '/v1/acquire': { ...LOCK, ...ASKED, party: 'p', lane: undefined, session: undefined },
  '/v1/release': { ...LOCK, mode: 'write', token: 1, request_id: '2' },
  '/v1/renew': { ...LOCK, ttl_ms: 1000, token: 1 },
  '/v1/cancel': { ...LOCK, request_id: '1', reason: 'cancelled' },
  '/v1/batch': [
    { op: 'acquire', ...LOCK, request_id: '1' },
    { op: 'release', ...LOCK },
  ],
  '/v1/begin': { ...OPERATION, request_id: '1', ttl_ms: 1000, wait_ms: 5, version: '1', meta: {} },
  '/v1/finish': { ...OPERATION, success: true, error: '', value: { a: 1 }, coordination: 'server' },
  '/v1/withdraw': { ...OPERATION, reason: 'abandoned' },
  '/v1/unref': OPERATION,
  '/v1/sessions/{session}': { grace_ms: 1000, keeps_leases: true },
  '/lock': { ...SEED, subtype: 'x', session: undefined, ttl_ms: 1000, wait_ms: 5, version: '1' },
  '/unlock': { ...SEED, error: '', success: true, token: 1, value: 1 },
  '/lock/status': { ...SEED, version: '1' },
  '/unref': SEED,
}

const NAMES = ['key', 'prefix', 'owner', 'kind', 'limit', 'cursor', 'queue_limit', 'resource']
const SEED_NAMES = ['type', 'resource_id', 'node_id', 'session', 'node_id', 'x', '__proto__']
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND']

/** Any request to any route: most are nearly right, some are nothing. */
export function drawRequest(random: Random): FuzzRequest {
  const route = random.pick(ROUTES)
  const method = random.chance(0.05) ? random.pick(METHODS) : route.method
  const path = route.path.replaceAll(/\{\w+\}/g, () => drawSegment(random))
  const mutated = random.chance(0.03) ? encodeRest(mutateText(random, path)) : path
  return {
    method,
    path: `/${mutated.replace(/^\/+/, '')}${drawQuery(random, method)}`,
    headers: drawHeaders(random),
    body: method === 'GET' || method === 'HEAD' ? undefined : drawBody(random, route.path),
  }
}

function drawSegment(random: Random): string {
  const kind = random.int(0, 9)
  if (kind < 6) return random.pick(['k', 'r', 's'])
  if (kind < 9) return encode(nastyText(random)) || 'k'
  return random.pick(['%', '%zz', '%00', '%ff', '%C3', '%ED%A0%80', '..', '%2e%2e%2f', 'a%0Ab'])
}

function drawQuery(random: Random, method: string): string {
  if (method !== 'GET' && random.chance(0.7)) return ''
  const pairs = Array.from({ length: random.int(0, 6) }, () => {
    const name = random.pick(random.chance(0.5) ? NAMES : SEED_NAMES)
    const value = random.chance(0.5)
      ? random.pick(['k', 'r', 'pull', 'n', '10', 'operation'])
      : encode(nastyText(random))
    return `${name}=${value}`
  })
  const text = pairs.join('&')
  return `?${random.chance(0.05) ? encodeRest(mutateText(random, text)) : text}`
}

function drawHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {}
  if (random.chance(0.5)) headers['content-type'] = 'application/json'
  if (random.chance(0.1)) headers['prefer'] = random.pick(['processing', 'respond-async', ''])
  if (random.chance(0.1)) headers['idempotency-key'] = toHeader(nastyText(random))
  if (random.chance(0.1)) headers['last-event-id'] = toHeader(nastyText(random))
  if (random.chance(0.1)) headers['authorization'] = toHeader(`Bearer ${nastyText(random)}`)
  if (random.chance(0.02)) headers['x-long'] = 'x'.repeat(random.int(1, 20_000))
  return headers
}

function drawBody(random: Random, path: string): Buffer {
  const valid = BODIES[path] ?? {}
  const changed = random.chance(0.6) ? changeMember(random, valid) : valid
  const text = JSON.stringify(changed)
  if (random.chance(0.75)) return Buffer.from(text)
  const mutated = mutateText(random, random.chance(0.1) ? text.repeat(random.int(1, 100)) : text)
  return Buffer.from(mutated, random.chance(0.5) ? 'utf8' : 'latin1')
}

function changeMember(random: Random, valid: unknown): unknown {
  if (Array.isArray(valid)) {
    const entries = valid.map((one: unknown) =>
      random.chance(0.5) ? changeMember(random, one) : one,
    )
    return random.chance(0.1) ? [...entries, nastyValue(random)] : entries
  }
  const entries = Object.entries(valid as object)
  if (entries.length === 0 || random.chance(0.05)) return nastyValue(random)
  const [name] = random.pick(entries)
  const changed = entries.map(([other, value]) =>
    other === name ? [other, nastyValue(random)] : [other, value],
  )
  if (random.chance(0.2)) changed.push([nastyText(random), nastyValue(random)])
  return Object.fromEntries(changed)
}

/** A lone surrogate has no percent-encoding. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

/** Leaves what may stand in a path and escapes what Node's client would not send. */
function encodeRest(text: string): string {
  return text.replaceAll(/[^!-~]/g, (character) => encode(character))
}

function toHeader(text: string): string {
  return text.replaceAll(/[^\t -~]/g, '?')
}
