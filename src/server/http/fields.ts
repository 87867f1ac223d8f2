import { toSnake } from '../../wire/json/key-case.ts'
import type { ServerLimits } from '../server-limits.ts'
import { badRequest } from './http-error.ts'

/**
 * The fields of a request. One table for each place of a route (its path, its query, its body) says what
 * they are called, what they may be and what they mean: requests are read by it, `/openapi.json` shows it,
 * and the compiler takes the type of what was read from it.
 */
export type FieldTable = Readonly<Record<string, FieldOptions>>

/** JSON Schema, as OpenAPI 3.1 has it. */
export type Schema = Readonly<Record<string, unknown>>

/**
 * How a value is read. `wait` is milliseconds, or `"forever"` for as long as the connection lasts; `json` is
 * any value, kept as its text; `object` is the same, and has to be an object.
 */
type Reading = 'string' | 'number' | 'boolean' | 'wait' | 'json' | 'object' | 'namespace'

/** What a field may be. Whether a value makes sense is for the engine to say, which is asked before anything else. */
export interface FieldType<Value = unknown> {
  readonly reads: Reading
  readonly schema: Schema | ((limits: ServerLimits) => Schema)
  /** Never there: the type of what is read. */
  readonly value?: Value
}

/** One entry of a table, under the name that the code has for it. */
interface FieldOptions extends FieldType {
  /** The name on the wire, where it is not the same in `snake_case`. */
  readonly wire?: string
  readonly needed?: true
  /** What it means, in place of what its type says. */
  readonly about?: string
  /** What it is where it is absent. */
  readonly byDefault?: string | number | boolean
}

export type FieldPlace = 'path' | 'query' | 'body'

export interface Field extends FieldType {
  readonly property: string
  readonly wire: string
  readonly place: FieldPlace
  readonly isNeeded: boolean
  readonly about: FieldOptions['about']
  readonly byDefault: FieldOptions['byDefault']
}

/** What is read by a table. */
export type Asked<Table extends FieldTable> = {
  readonly [Name in NeededOf<Table>]: ValueOf<Table[Name]>
} & {
  readonly [Name in Exclude<keyof Table, NeededOf<Table>>]?: ValueOf<Table[Name]> | undefined
}

type NeededOf<Table extends FieldTable> = {
  [Name in keyof Table]: Table[Name] extends { readonly needed: true } ? Name : never
}[keyof Table]

type ValueOf<Type> = Type extends FieldType<infer Value> ? Value : never

/** All of one shape, because every request is read by them. */
export function listFields(table: FieldTable, place: FieldPlace): readonly Field[] {
  return Object.entries(table).map(([property, options]) => ({
    property,
    wire: options.wire ?? toSnake(property),
    place,
    reads: options.reads,
    isNeeded: options.needed === true,
    schema: options.schema,
    about: options.about,
    byDefault: options.byDefault,
  }))
}

/** Where fields are read from. A name in a path is there, or the path is another one. */
export interface FieldSources {
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: unknown
}

/**
 * The values of the fields, under the code's names. Throws an `HttpError` that names the first field which is
 * missing or of the wrong type. Others are ignored; `null` and an empty query are the same as absent.
 */
export function readFields(
  fields: readonly Field[],
  sources: FieldSources,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const field of fields) {
    const raw = find(field, sources)
    if (raw === undefined || raw === null) {
      if (field.isNeeded) throw badRequest(field.wire, 'is required')
      continue
    }
    const problem = problemWith(field, raw)
    if (problem !== undefined) throw badRequest(field.wire, problem)
    values[field.property] = toValue(field, raw)
  }
  return values
}

/** No field has the name of something that every object has. A query is parsed only where one is looked at. */
function find({ place, wire }: Field, sources: FieldSources): unknown {
  if (place === 'path') return sources.parameters[wire]
  if (place === 'query') return sources.query.get(wire) || undefined
  const { body } = sources
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return (body as Readonly<Record<string, unknown>>)[wire]
  }
  throw badRequest('body', 'must be a JSON object')
}

const FOREVER = 'forever'

function problemWith({ reads, place }: Field, raw: unknown): string | undefined {
  switch (reads) {
    case 'number':
      if (place === 'body') return typeof raw === 'number' ? undefined : 'must be a number'
      return /^\d{1,15}$/.test(raw as string) ? undefined : 'must be a whole number'
    case 'string':
    case 'boolean':
      return typeof raw === reads ? undefined : `must be a ${reads}`
    case 'wait':
      return typeof raw === 'number' || raw === FOREVER
        ? undefined
        : `must be a number or "${FOREVER}"`
    case 'object':
      return typeof raw === 'object' && !Array.isArray(raw) ? undefined : 'must be an object'
    case 'namespace':
      return raw === 'lock' || raw === 'operation' ? undefined : 'must be lock or operation'
    case 'json':
      return undefined
  }
}

function toValue({ reads, place }: Field, raw: unknown): unknown {
  if (reads === 'json' || reads === 'object') return JSON.stringify(raw)
  if (reads === 'wait') return raw === FOREVER ? Number.POSITIVE_INFINITY : raw
  return reads === 'number' && place !== 'body' ? Number(raw) : raw
}
