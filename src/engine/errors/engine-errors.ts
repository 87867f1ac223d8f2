import type { Problem } from '../validation/validate.ts'
import { createError, type LockError } from './errors.ts'

/** The errors that every engine has in common, in the words of the catalogue. */

export function toInvalidArgument(asked: { readonly kind: string }, problem: Problem): LockError {
  const { field, message } = problem
  return createError('LOCK_INVALID_ARGUMENT', `${asked.kind}: ${field} ${message}`, {
    details: { field },
  })
}

/** What was asked, as far as an error says it: a command about one key, a resource, or neither. */
interface Asked {
  readonly kind: string
  readonly key?: string | undefined
  readonly resource?: string | undefined
}

export function toAborted(
  asked: Asked,
  signal: AbortSignal,
  applied: 'no' | 'maybe' = 'no',
): LockError {
  return createError('LOCK_ABORTED', `${describe(asked)} was aborted by its signal`, {
    ...aboutKey(asked),
    applied,
    cause: signal.reason,
  })
}

export function toClosed(applied: 'no' | 'maybe' = 'no'): LockError {
  return createError('LOCK_ENGINE_CLOSED', 'the engine is closed', { applied })
}

/** Something that cannot be, was: a law or a table that contradicts itself. */
export function toDefect(asked: Asked, cause: unknown): LockError {
  const what = cause instanceof Error ? cause.message : String(cause)
  return createError('LOCK_INTERNAL', `${describe(asked)}: ${what}`, {
    ...aboutKey(asked),
    cause,
    applied: 'maybe',
  })
}

function describe({ kind, key, resource }: Asked): string {
  const name = key ?? resource
  return name === undefined ? kind : `${kind} of "${name}"`
}

function aboutKey({ key, resource }: Asked): { readonly details?: { readonly key: string } } {
  const name = key ?? resource
  return name === undefined ? {} : { details: { key: name } }
}
