import type { SecureContextOptions } from 'node:tls'

/** What a worker thread that vouches for its process is started with. */
export interface PulseData {
  /** Of the server, as `http:` or `https:`. */
  readonly url: string
  readonly token: string | undefined
  readonly tls: SecureContextOptions | undefined
  readonly client: string
  readonly session: string
  readonly heartbeatMs: number
  /** How long it vouches for a main thread that gives no sign of life itself. */
  readonly hungMs: number
  /** Two instants on the monotonic clock that all threads share, in nanoseconds; see `PULSE_SLOTS`. */
  readonly times: SharedArrayBuffer
}

export const NS_PER_MS = 1e6

export const PULSE_SLOTS = {
  /** Written by the main thread: when it was last alive. */
  alive: 0,
  /** Written by the worker: when the latest sign of life was sent that the server has confirmed. */
  vouched: 1,
} as const

export const PULSE_BYTES: number = 2 * BigInt64Array.BYTES_PER_ELEMENT
