import { toCamel } from './key-case.ts'

/**
 * How one field crosses the wire: its name in JSON, its name in the code, what it may be. JSON has
 * `snake_case` and no infinity; `null` is the same as absent, everywhere.
 */
export interface Field {
  readonly wire: string
  readonly property: string
  readonly type: FieldType
  readonly isRequired: boolean
}

/**
 * - `wait`: milliseconds, or `"forever"` for as long as the connection lasts.
 * - `json`: any JSON value, kept as its text; `object`: the same, and it has to be an object.
 */
export type FieldType = 'string' | 'number' | 'boolean' | 'wait' | 'json' | 'object'

/** A field that is missing or of the wrong type. */
export interface BadField {
  readonly field: string
  readonly message: string
}

const FOREVER = 'forever'

/** `key!` is required, `ttl_ms:number` has a type; without one it is a string. */
export function fields(...specifications: readonly string[]): readonly Field[] {
  return specifications.map((specification) => {
    const [name = '', type = 'string'] = specification.split(':')
    const wire = name.replace('!', '')
    return {
      wire,
      property: toCamel(wire),
      type: type as FieldType,
      isRequired: name.endsWith('!'),
    }
  })
}

/**
 * The fields of a body, in the code's names and added to those that are given, or the first that is
 * wrong. Others are ignored. No field has the name of something that every object has.
 */
export function readFields(
  known: readonly Field[],
  body: unknown,
  values: Record<string, unknown> = {},
): { readonly values: Record<string, unknown> } | { readonly problem: BadField } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: { field: 'body', message: 'must be a JSON object' } }
  }
  for (const { wire, property, type, isRequired } of known) {
    const raw = (body as Readonly<Record<string, unknown>>)[wire]
    if (raw === undefined || raw === null) {
      if (isRequired) return { problem: { field: wire, message: 'is required' } }
      continue
    }
    const problem = problemWithType(type, raw)
    if (problem !== undefined) return { problem: { field: wire, message: problem } }
    values[property] = toValue(type, raw)
  }
  return { values }
}

function problemWithType(type: FieldType, raw: unknown): string | undefined {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof raw === type ? undefined : `must be a ${type}`
    case 'wait':
      return typeof raw === 'number' || raw === FOREVER
        ? undefined
        : `must be a number or "${FOREVER}"`
    case 'object':
      return typeof raw === 'object' && !Array.isArray(raw) ? undefined : 'must be an object'
    case 'json':
      return undefined
  }
}

function toValue(type: FieldType, raw: unknown): unknown {
  if (type === 'json' || type === 'object') return JSON.stringify(raw)
  return type === 'wait' && raw === FOREVER ? Number.POSITIVE_INFINITY : raw
}
