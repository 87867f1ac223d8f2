import { QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import {
  ERROR_BYTES_MAX,
  GRACE_MS_MAX,
  GRACE_MS_MIN,
  ID_BYTES_MAX,
  META_BYTES_MAX,
  OWNER_BYTES_MAX,
  TTL_MS_MIN,
  TYPE_CHARS_MAX,
  VALUE_BYTES_MAX,
} from '../../engine/validation/limits.ts'
import type { CancelReason } from '../../law/model/commands.ts'
import type { Coordination } from '../../law/model/settings.ts'
import type { Mode, Namespace } from '../../law/model/view.ts'
import type { FieldType, Schema } from './fields.ts'

/**
 * What the fields of requests may be. A text has as many bytes of UTF-8 as its `maxLength`, so characters
 * beyond ASCII count for more than one; it has no control characters.
 */

export const KEY: FieldType<string> = {
  reads: 'string',
  schema: ({ key }) => name(key, 'The name of a lock.'),
}

export const RESOURCE: FieldType<string> = {
  reads: 'string',
  schema: ({ key }) => name(key, 'What is worked on.'),
}

export const OWNER: FieldType<string> = {
  reads: 'string',
  schema: ({ owner }) => name(owner, 'Who holds or waits: a node, a process, a task.'),
}

export const NODE: FieldType<string> = {
  reads: 'string',
  schema: ({ owner }) => name(owner, 'Who works on it.'),
}

/** The owner of an operation is its type and its node. */
export const ANY_OWNER: FieldType<string> = {
  reads: 'string',
  schema: name(OWNER_BYTES_MAX + TYPE_CHARS_MAX + 1, 'An owner; of an operation, `TYPE:NODE`.'),
}

export const ID: FieldType<string> = { reads: 'string', schema: name(ID_BYTES_MAX) }

export const REQUEST_ID: FieldType<string> = {
  reads: 'string',
  schema: name(ID_BYTES_MAX, 'Names one logical request: the same on every retry.'),
}

export const SESSION: FieldType<string> = {
  reads: 'string',
  schema: name(ID_BYTES_MAX, 'A session: what is held in it ends soon after its client is gone.'),
}

export const VERSION: FieldType<string> = {
  reads: 'string',
  schema: name(ID_BYTES_MAX, 'Another version is other work: it is not skipped.'),
}

export const LANE: FieldType<string> = {
  reads: 'string',
  schema: name(ID_BYTES_MAX, 'The sub-queue, where lanes are configured.'),
}

export const OPERATION_TYPE: FieldType<string> = {
  reads: 'string',
  schema: {
    type: 'string',
    pattern: `^[A-Za-z0-9._-]{1,${TYPE_CHARS_MAX}}$`,
    description: 'What is done, such as `pull`, `update` or `delete`.',
  },
}

export const MODE: FieldType<Mode> = { reads: 'string', schema: oneOf('read', 'write') }

export const COORDINATION: FieldType<Coordination> = {
  reads: 'string',
  schema: oneOf('server', 'client', 'mutex'),
}

export const REASON: FieldType<CancelReason> = {
  reads: 'string',
  schema: oneOf('cancelled', 'abandoned'),
}

/** `kind` says whether a lock or an operation is meant. */
export const NAMESPACE: FieldType<Namespace> & { readonly wire: 'kind' } = {
  reads: 'namespace',
  wire: 'kind',
  schema: oneOf('lock', 'operation'),
}

export const TTL: FieldType<number> = {
  reads: 'number',
  schema: ({ ttl }) => whole('The lease in milliseconds.', { minimum: TTL_MS_MIN, maximum: ttl }),
}

export const WAIT: FieldType<number> = {
  reads: 'wait',
  schema: ({ wait }) => ({
    description:
      'How long the request is held open, in milliseconds; `"forever"` for as long as the connection lasts.',
    oneOf: [whole(undefined, { maximum: wait }), { const: 'forever' }],
  }),
}

export const GRACE: FieldType<number> = {
  reads: 'number',
  schema: whole('How long the session may be silent before it ends, in milliseconds.', {
    minimum: GRACE_MS_MIN,
    maximum: GRACE_MS_MAX,
  }),
}

export const TOKEN: FieldType<number> = {
  reads: 'number',
  schema: whole('The fencing token of the hold: a stale one is refused.'),
}

export const SHOWN_MAX: FieldType<number> = {
  reads: 'number',
  schema: whole('How many are shown.', { minimum: 1, maximum: QUERY_LIMIT_MAX }),
}

export const FLAG: FieldType<boolean> = { reads: 'boolean', schema: { type: 'boolean' } }

export const TEXT: FieldType<string> = { reads: 'string', schema: { type: 'string' } }

export const META: FieldType<string> = {
  reads: 'object',
  schema: {
    type: 'object',
    additionalProperties: true,
    description: `Shown to operators; at most ${META_BYTES_MAX} bytes of JSON.`,
  },
}

export const VALUE: FieldType<string> = {
  reads: 'json',
  schema: { description: `For those who skip; at most ${VALUE_BYTES_MAX} bytes of JSON.` },
}

export const ERROR_TEXT: FieldType<string> = {
  reads: 'string',
  schema: {
    type: 'string',
    maxLength: ERROR_BYTES_MAX,
    description: 'What went wrong; empty for a success.',
  },
}

function name(maxLength: number, description?: string): Schema {
  return describe({ type: 'string', minLength: 1, maxLength }, description)
}

function whole(description?: string, bounds: Schema = {}): Schema {
  return describe({ type: 'integer', minimum: 0, ...bounds }, description)
}

function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values }
}

function describe(schema: Schema, description: string | undefined): Schema {
  return description === undefined ? schema : { ...schema, description }
}
