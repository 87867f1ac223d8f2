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
import type { AcquireOptions } from '../options/lock-options.ts'

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

export function parseTtl(ttl: Duration): number {
  return parseDuration(ttl, TTL_RULE)
}

/** Without a time the wait has no end of its own. */
export function parseWait(wait: Duration | undefined): number {
  return wait === undefined ? Number.POSITIVE_INFINITY : parseDuration(wait, WAIT_RULE)
}

export function parseMeta(meta: unknown): string | undefined {
  return toJsonText(meta, { what: 'meta', bytesMax: META_BYTES_MAX })
}

/** The terms of someone who asks for nothing in particular. */
export function createDefaultTerms(ttlMs: number): AcquireTerms {
  return Object.freeze({
    mode: 'write',
    ttlMs,
    waitMs: Number.POSITIVE_INFINITY,
    signal: undefined,
    renew: true,
    owner: undefined,
    lane: undefined,
    meta: undefined,
  })
}

export function parseAcquireOptions(
  options: AcquireOptions | undefined,
  defaults: AcquireTerms,
): AcquireTerms {
  if (options === undefined) return defaults
  assertOptions(options)
  const { mode = 'write', ttl, wait, signal, renew = true, owner, lane, meta } = options
  assertSignal(signal)
  return {
    mode,
    ttlMs: ttl === undefined ? defaults.ttlMs : parseTtl(ttl),
    waitMs: parseWait(wait),
    signal,
    renew,
    owner,
    lane,
    meta: meta === undefined ? undefined : parseMeta(meta),
  }
}
