import { createError, type LockError } from '../../engine/errors/errors.ts'

/**
 * A length of time: a number of milliseconds, or a number with a unit. `1.5s` is as good as `1500ms`;
 * what is not a whole number of milliseconds is rounded up.
 *
 * @example
 * ```ts
 * import type { Duration } from 'holdfast'
 *
 * const durations: Duration[] = [250, '250ms', '10s', '5m', '1h', '1d']
 * ```
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

/** What one option accepts; `option` is the name that a complaint shows. */
export interface DurationRule {
  readonly option: string
  readonly minMs: number
  readonly maxMs: number
  /** Whether `Infinity` may be given, above the maximum. */
  readonly endless?: boolean
}

const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Whole milliseconds, or an `InvalidArgumentError` that names the option. */
export function parseDuration(value: unknown, rule: DurationRule): number {
  const ms = typeof value === 'number' ? value : parseText(value, rule)
  if (ms === Number.POSITIVE_INFINITY && rule.endless === true) return ms
  if (!Number.isFinite(ms) || ms < 0) {
    throw refuse(value, rule, 'it has to be a finite number of milliseconds, not below 0')
  }
  if (ms > 0 && ms < 1) throw refuse(value, rule, 'the shortest duration is 1 ms')
  const wholeMs = Math.ceil(ms)
  if (wholeMs < rule.minMs || wholeMs > rule.maxMs) {
    throw refuse(value, rule, `it has to be between ${rule.minMs} ms and ${rule.maxMs} ms`)
  }
  return wholeMs
}

/** Programs write the same few durations again and again. */
const known = new Map<unknown, number>()
const KNOWN_MAX = 100

function parseText(value: unknown, rule: DurationRule): number {
  const knownMs = known.get(value)
  if (knownMs !== undefined) return knownMs
  const parts = typeof value === 'string' ? FORM.exec(value) : null
  const unitMs = UNIT_MS[parts?.[2] ?? '']
  if (parts === null || unitMs === undefined) {
    throw refuse(value, rule, "use a number of milliseconds, or text such as '300ms', '10s', '5m'")
  }
  const ms = Number(parts[1]) * unitMs
  if (known.size < KNOWN_MAX) known.set(value, ms)
  return ms
}

function refuse(value: unknown, { option }: DurationRule, why: string): LockError {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return createError('LOCK_INVALID_ARGUMENT', `${option} cannot be ${shown}: ${why}`, {
    details: { option },
  })
}
