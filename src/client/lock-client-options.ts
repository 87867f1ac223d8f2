import { createError } from '../engine/errors/errors.ts'
import { type Duration, parseDuration } from '../locks/options/durations.ts'
import { parseTlsOptions, type TlsOptions } from '../locks/options/tls-options.ts'
import type { Clock } from '../time/clock.ts'
import { SystemClock } from '../time/system-clock.ts'

export interface LockClientOptions extends TlsOptions {
  /** As in `http://127.0.0.1:8086`. */
  readonly server: string | URL
  /** Who asks: the same name on every restart of one node. */
  readonly nodeId: string
  /** A bearer token, for servers that want one. */
  readonly token?: string | undefined
  /** How often a request is sent again after a network error or a time-out; 3 by default. */
  readonly maxRetries?: number | undefined
  /** The pause before that; 1 s by default. */
  readonly retryInterval?: Duration | undefined
  /** How long an answer may take; 30 s by default. Waiting for a lock is not counted. */
  readonly requestTimeout?: Duration | undefined
  /**
   * `events` (the default) listens on a stream, with a slow poll behind it, and is missed by the server
   * within seconds when the process dies. `polling` only asks, now and then; the server does not notice when it stops.
   */
  readonly waitBy?: 'events' | 'polling' | undefined
  /** How often `polling` asks; 500 ms by default. */
  readonly pollInterval?: Duration | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

/** The same, checked and complete. */
export interface LockClientSettings {
  readonly server: URL
  readonly nodeId: string
  readonly token: string | undefined
  readonly tls: TlsOptions
  readonly maxRetries: number
  readonly retryMs: number
  readonly requestTimeoutMs: number
  readonly waitBy: 'events' | 'polling'
  readonly pollMs: number
  readonly clock: Clock
}

const MAX_RETRIES_DEFAULT = 3
const DAY_MS = 24 * 60 * 60 * 1000

export function toLockClientSettings(options: LockClientOptions): LockClientSettings {
  const { maxRetries = MAX_RETRIES_DEFAULT, waitBy = 'events' } = options
  if (!Number.isInteger(maxRetries) || maxRetries < 0) {
    throw refuse('maxRetries', 'has to be a whole number, not below 0')
  }
  if (typeof options.nodeId !== 'string' || options.nodeId === '') {
    throw refuse('nodeId', 'has to be a name')
  }
  if (waitBy !== 'events' && waitBy !== 'polling') {
    throw refuse('waitBy', 'has to be events or polling')
  }
  return {
    server: toServerUrl(options.server),
    nodeId: options.nodeId,
    token: options.token,
    tls: parseTlsOptions(options),
    maxRetries,
    retryMs: parseMs('retryInterval', options.retryInterval ?? '1s'),
    requestTimeoutMs: parseMs('requestTimeout', options.requestTimeout ?? '30s'),
    waitBy,
    pollMs: parseMs('pollInterval', options.pollInterval ?? '500ms'),
    clock: options.clock ?? new SystemClock(),
  }
}

/** The path of the address stays: a proxy may serve the locks under one. */
function toServerUrl(server: string | URL): URL {
  if (!URL.canParse(String(server)))
    throw refuse('server', 'has to be an address as http://host:port')
  const url = new URL(server)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse('server', 'has to begin with http:// or https://')
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

function parseMs(option: string, value: Duration): number {
  return parseDuration(value, { option, minMs: 1, maxMs: DAY_MS })
}

function refuse(option: string, why: string): Error {
  return createError('LOCK_INVALID_ARGUMENT', `${option} ${why}`, { details: { option } })
}
