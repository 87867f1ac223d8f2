import {
  KEY_BYTES_MAX,
  OWNER_BYTES_MAX,
  TTL_MS_MAX,
  TTL_MS_MIN,
  WAIT_MS_MAX,
} from '../../engine/validation/limits.ts'
import type { ServerLimits } from '../../server/server-limits.ts'

export interface LimitRule {
  readonly unit: 'bytes' | 'ms' | 'count'
  readonly min: number
  readonly max: number
  /** As it would be written. */
  readonly default: string
  readonly meaning: string
}

const MIB = 1024 * 1024
const MANY = 1_000_000_000

/** What `--limit NAME=VALUE` takes. Keys, owners and leases cannot be longer than the law allows. */
export const LIMIT_TABLE: Readonly<Record<keyof ServerLimits, LimitRule>> = {
  body: {
    unit: 'bytes',
    min: 1024,
    max: 64 * MIB,
    default: '16KiB',
    meaning: 'body of a request',
  },
  'batch-body': {
    unit: 'bytes',
    min: 1024,
    max: 64 * MIB,
    default: '256KiB',
    meaning: 'body of a batch',
  },
  key: {
    unit: 'bytes',
    min: 1,
    max: KEY_BYTES_MAX,
    default: '512B',
    meaning: 'a key or resource',
  },
  owner: {
    unit: 'bytes',
    min: 1,
    max: OWNER_BYTES_MAX,
    default: '256B',
    meaning: 'an owner or node',
  },
  ttl: { unit: 'ms', min: TTL_MS_MIN, max: TTL_MS_MAX, default: '24h', meaning: 'a lease' },
  wait: {
    unit: 'ms',
    min: 1,
    max: WAIT_MS_MAX,
    default: '1h',
    meaning: 'a wait that is given as a number',
  },
  waiters: { unit: 'count', min: 1, max: MANY, default: '10000', meaning: 'waiters of one key' },
  holds: {
    unit: 'count',
    min: 1,
    max: MANY,
    default: '100000',
    meaning: 'holds and open requests of one principal',
  },
  streams: {
    unit: 'count',
    min: 1,
    max: MANY,
    default: '10000',
    meaning: 'event streams, and watches of sessions, of one principal',
  },
  connections: {
    unit: 'count',
    min: 1,
    max: MANY,
    default: '10000',
    meaning: 'open connections',
  },
  unsent: {
    unit: 'bytes',
    min: 2 * MIB,
    max: 1024 * MIB,
    default: '32MiB',
    meaning: 'what the client of one session has not taken',
  },
  'unsent-total': {
    unit: 'bytes',
    min: 16 * MIB,
    max: 64 * 1024 * MIB,
    default: '128MiB',
    meaning: 'what all clients together have not taken',
  },
}
