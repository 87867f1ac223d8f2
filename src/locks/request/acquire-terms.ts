import {
  META_BYTES_MAX,
  TTL_MS_MAX,
  TTL_MS_MIN,
  WAIT_MS_MAX,
} from '../../engine/validation/limits.ts'
import type { Mode } from '../../law/model/view.ts'
import { assertOptions, assertSignal } from '../options/check-options.ts'
import { type Duration, type DurationRule, parseDuration } from '../options/durations.ts'
import { toJsonText } from '../operations/json-text.ts'
import type { AcquireOptions, WaitOptions } from '../options/lock-options.ts'

/** What a lock is asked for with, checked and in milliseconds. */
export interface AcquireTerms {
  readonly mode: Mode
  readonly ttlMs: number
  /** `Infinity` waits until aborted. */
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
  readonly renew: boolean
  /** Undefined for an owner of its own. */
  readonly owner: string | undefined
  readonly lane: string | undefined
  readonly meta: string | undefined
}

const TTL_RULE: DurationRule = { option: 'ttl', minMs: TTL_MS_MIN, maxMs: TTL_MS_MAX }
const WAIT_RULE: DurationRule = { option: 'wait', minMs: 0, maxMs: WAIT_MS_MAX, endless: true }

/** The lease that is asked for, or the usual one. */
export function parseTtl(ttl: Duration | undefined, usualMs: number): number {
  return ttl === undefined ? usualMs : parseDuration(ttl, TTL_RULE)
}

/** How long a call waits, and what ends the wait early. Without a time the wait has no end of its own. */
export function parseWaitOptions({
  wait,
  signal,
}: WaitOptions): Pick<AcquireTerms, 'waitMs' | 'signal'> {
  assertSignal(signal)
  const waitMs = wait === undefined ? Number.POSITIVE_INFINITY : parseDuration(wait, WAIT_RULE)
  return { waitMs, signal }
}

export function parseMeta(meta: unknown): string | undefined {
  return toJsonText(meta, { what: 'meta', bytesMax: META_BYTES_MAX })
}

/** An option that is absent is the default: a write lock with an owner of its own, renewed. */
export function parseAcquireOptions(options: AcquireOptions, usualTtlMs: number): AcquireTerms {
  assertOptions(options)
  const { mode = 'write', ttl, renew = true, owner, lane, meta } = options
  const { waitMs, signal } = parseWaitOptions(options)
  const ttlMs = parseTtl(ttl, usualTtlMs)
  return { mode, ttlMs, waitMs, signal, renew, owner, lane, meta: parseMeta(meta) }
}
