import { createError, type LockError } from '../../engine/errors/errors.ts'

/** Where a value goes, for the complaint when it cannot. */
export interface JsonRule {
  /** As in `the value of once("a")`. */
  readonly what: string
  readonly bytesMax: number
}

/** JSON text, or nothing for `undefined`; an `InvalidArgumentError` for what JSON cannot carry. */
export function toJsonText(value: unknown, rule: JsonRule): string | undefined {
  if (value === undefined) return undefined
  const text = stringify(value, rule)
  const sizeBytes = Buffer.byteLength(text)
  if (sizeBytes > rule.bytesMax) {
    throw refuse(rule, `it has ${sizeBytes} bytes and may have ${rule.bytesMax}`)
  }
  return text
}

function stringify(value: unknown, rule: JsonRule): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw refuse(rule, cause instanceof Error ? cause.message : String(cause), cause)
  }
  if (text === undefined) throw refuse(rule, `a ${typeof value} has no JSON form`)
  return text
}

function refuse({ what }: JsonRule, why: string, cause?: unknown): LockError {
  return createError('LOCK_INVALID_ARGUMENT', `${what} cannot be kept as JSON: ${why}`, { cause })
}

/**
 * The value of a text that `toJsonText` made; `undefined` for none. A client that speaks to the engine itself
 * can have left any text: one that is no JSON is its own value.
 */
export function fromJsonText(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
