import type { LockError } from '../../engine/errors.ts'
import { toSnake } from '../../protocol/json/key-case.ts'
import { badRequest, type HttpError } from './http-error.ts'

/** What the wire calls by another word, and not only in another case. */
export type WireNames = Readonly<Record<string, string>>

const WIRE_NAMES: WireNames = { namespace: 'kind' }

/**
 * The field that the engine or a limit finds wrong, and why, in the names of the wire; `undefined` for an
 * error that is about none. The message of such an error has the field's name and then the reason.
 */
export function toBadField(
  { message, details }: LockError,
  names: WireNames = WIRE_NAMES,
): HttpError | undefined {
  const { field } = details
  if (typeof field !== 'string') return undefined
  const found = message.indexOf(`${field} `)
  const reason = found === -1 ? message : message.slice(found + field.length + 1)
  return badRequest(names[field] ?? toSnake(field), reason)
}
