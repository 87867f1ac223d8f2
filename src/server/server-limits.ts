import {
  KEY_BYTES_MAX,
  OWNER_BYTES_MAX,
  TTL_MS_MAX,
  WAITERS_PER_KEY_MAX,
} from '../engine/validation/limits.ts'

/** Bounds that an operator may set, by the names that `--limit NAME=VALUE` takes. */
export interface ServerLimits {
  readonly body: number
  readonly 'batch-body': number
  /** Bytes; at most what the law allows. */
  readonly key: number
  readonly owner: number
  /** Milliseconds; at most what the law allows. */
  readonly ttl: number
  /** Milliseconds that a request may ask to wait. Waiting for as long as the connection lasts is no number. */
  readonly wait: number
  /** Per key. */
  readonly waiters: number
  /** Per principal. */
  readonly holds: number
  /** Event streams, and watches of sessions, per principal. */
  readonly streams: number
  readonly connections: number
  /** Bytes that one session has not taken: above this its connection is cut. */
  readonly unsent: number
  /** The same for all connections together: above this those are cut that are furthest behind. */
  readonly 'unsent-total': number
}

const KIB = 1024
const MIB = 1024 * KIB
const HOUR_MS = 60 * 60 * 1000

export const DEFAULT_LIMITS: ServerLimits = Object.freeze({
  body: 16 * KIB,
  'batch-body': 256 * KIB,
  key: KEY_BYTES_MAX,
  owner: OWNER_BYTES_MAX,
  ttl: TTL_MS_MAX,
  wait: HOUR_MS,
  waiters: WAITERS_PER_KEY_MAX,
  holds: 100_000,
  streams: 10_000,
  connections: 10_000,
  unsent: 32 * MIB,
  'unsent-total': 128 * MIB,
})
