import type { Schema } from '../http/fields.ts'
import type { DescribedAnswer } from '../http/route.ts'

/** Small words for schemas of answers. */
export const TEXT: Schema = { type: 'string' }
export const NUMBER: Schema = { type: 'number' }
export const WHOLE: Schema = { type: 'integer', minimum: 0 }
export const FLAG: Schema = { type: 'boolean' }
export const INSTANT: Schema = { type: 'string', format: 'date-time' }
export const ANY: Schema = {}

export function oneOf(...values: readonly (string | boolean)[]): Schema {
  return values.length === 1 ? { const: values[0] } : { type: 'string', enum: values }
}

export function list(items: Schema): Schema {
  return { type: 'array', items }
}

/** A value that is `null` where there is none. */
export function orNull(schema: Schema): Schema {
  return 'type' in schema
    ? { ...schema, type: [schema['type'], 'null'] }
    : { anyOf: [schema, { type: 'null' }] }
}

/** An object; a name that ends with `?` may be absent. */
export function object(members: Readonly<Record<string, Schema>>, description?: string): Schema {
  const names = Object.keys(members)
  const properties = names.map((name) => [name.replace('?', ''), members[name]] as const)
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(properties),
    required: names.filter((name) => !name.endsWith('?')),
  }
}

/** One of the schemas that the description has under a name. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

export function anyOf(...schemas: readonly Schema[]): Schema {
  return schemas.length === 1 ? (schemas[0] as Schema) : { anyOf: schemas }
}

/** An answer in JSON, of one of the named schemas. */
export function answer(description: string, ...names: readonly string[]): DescribedAnswer {
  return { description, schema: anyOf(...names.map(ref)) }
}
