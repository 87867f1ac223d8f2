import type { LockError } from '../../engine/errors/errors.ts'
import { toSnake } from '../../wire/json/key-case.ts'
import type { Field } from './fields.ts'
import { badRequest, type HttpError } from './http-error.ts'

/** What an engine that is asked about an operation calls what its route calls otherwise. */
const SAME: Readonly<Record<string, string>> = { key: 'resource', owner: 'node' }

/**
 * The field that the engine or a limit finds wrong, and why, in the names of the request; `undefined` for an
 * error that is about none. The message of such an error has the field's name and then the reason.
 */
export function toBadField(
  { message, details }: LockError,
  fields: readonly Field[],
): HttpError | undefined {
  const { field } = details
  if (typeof field !== 'string') return undefined
  const found = message.indexOf(`${field} `)
  const reason = found === -1 ? message : message.slice(found + field.length + 1)
  const known =
    fields.find(({ property }) => property === field) ??
    fields.find(({ property }) => property === SAME[field])
  return badRequest(known?.wire ?? toSnake(field), reason)
}
