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

/**
 * How long a client may take, in milliseconds. Nothing here concerns what the server takes for an answer: waits
 * and streams last as long as they last.
 */
export interface Patience {
  /** From the first byte, or from the opening of the connection, to the end of the head; for a TLS handshake, too. */
  readonly headersMs: number
  /** The same to the end of the body. */
  readonly requestMs: number
  /** How often the deadlines of all connections are looked at. */
  readonly checkMs: number
  readonly keepAliveMs: number
  /** From the moment that the server closes its side to the moment that the connection is cut. */
  readonly lingerMs: number
  /** While it takes nothing of what was written to it. */
  readonly unsentMs: number
}

/**
 * Not for operators: shorter ones refuse clients in a slow network, and longer ones let a client keep a
 * connection that it does not use.
 *
 * Connections stay open for longer than the HTTP clients in use keep idle ones (90 s in Go's), so that
 * it is the client that closes, and no request is sent into a connection that is just going away.
 * An answer that tells of a closed connection is on its way for less than the linger; a client that reads
 * at all takes something within the last of them.
 */
export const PATIENCE: Patience = Object.freeze({
  headersMs: 10_000,
  requestMs: 15_000,
  checkMs: 1_000,
  keepAliveMs: 95_000,
  lingerMs: 5_000,
  unsentMs: 15_000,
})

/**
 * Requests of one connection that stand behind another one. Clients in use send no more than one; a client
 * that sends another request while so many stand is cut.
 */
export const PIPELINED_MAX = 16

/** The same over all connections: each is some kilobytes, or the 16 KiB of the longest head. */
export const PIPELINED_TOTAL_MAX = 1_000
