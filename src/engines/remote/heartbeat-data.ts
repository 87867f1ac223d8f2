import type { SecureContextOptions } from 'node:tls'

/** What the thread that sends heartbeats is started with. */
export interface HeartbeatData {
  /** Of the server, as `http:` or `https:`. */
  readonly url: string
  readonly token: string | undefined
  readonly tls: SecureContextOptions | undefined
  readonly client: string
  readonly session: string
  readonly heartbeatMs: number
  /** What both threads know; see `HEARTBEAT_SLOTS`. */
  readonly shared: SharedArrayBuffer
}

/** Instants are nanoseconds on the monotonic clock that all threads share. */
export const HEARTBEAT_SLOTS = {
  /** Written by the main thread: when it last ran. */
  mainRan: 0,
  /** Written by the main thread: how many losses it has processed, as the server counts them. */
  losses: 1,
  /** Written by both: when the latest heartbeat was sent that counts. */
  confirmed: 2,
} as const

export const HEARTBEAT_BYTES: number = 3 * BigInt64Array.BYTES_PER_ELEMENT

const NS_PER_MS = 1e6

export function nowNs(): bigint {
  return process.hrtime.bigint()
}

export function toMs(ns: bigint): number {
  return Number(ns) / NS_PER_MS
}

export function toNs(ms: number): bigint {
  return BigInt(Math.round(ms * NS_PER_MS))
}
