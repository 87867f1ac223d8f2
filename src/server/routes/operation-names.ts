import { isLockError } from '../../engine/errors.ts'
import { problemWith } from '../../engine/validation/validate.ts'
import { type Field, readFields } from '../../protocol/json/fields.ts'
import { toBadField, type WireNames } from '../http/bad-field.ts'
import { badRequest } from '../http/http-error.ts'

/** What an operation's caller calls the fields of a command; others are in the wire's case. */
const WIRE_NAMES: WireNames = {
  key: 'resource_id',
  resource: 'resource_id',
  node: 'node_id',
  owner: 'node_id',
  lane: 'subtype',
}

/** The fields of a request about operations; throws where one is missing or of the wrong type. */
export function readAsked<Asked>(known: readonly Field[], asked: unknown): Asked {
  const read = readFields(known, asked)
  if ('problem' in read) throw badRequest(read.problem.field, read.problem.message)
  return read.values as Asked
}

/** What somebody looks at: a type of operation on a resource, perhaps as one node sees it. */
export interface Subject {
  readonly type: string
  readonly resource: string
  readonly node?: string | undefined
  readonly version?: string | undefined
}

/** For calls that only read, and so never show the law what they were asked; throws where it is wrong. */
export function checkSubject({ type, resource, node = 'anybody' }: Subject): void {
  const problem = problemWith({ kind: 'withdraw', type, resource, node })
  if (problem === undefined) return
  throw badRequest(WIRE_NAMES[problem.field] ?? problem.field, problem.message)
}

/** As the promise; but a field that the engine finds wrong is called what the caller calls it. */
export async function inWireNames<Answer>(asking: Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await asking
  } catch (error) {
    const isInvalid = isLockError(error, 'LOCK_INVALID_ARGUMENT')
    throw (isInvalid ? toBadField(error, WIRE_NAMES) : undefined) ?? error
  }
}
