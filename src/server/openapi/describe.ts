/** Small words for writing an OpenAPI description by hand. */
export type Json = Readonly<Record<string, unknown>>

export const TEXT: Json = { type: 'string' }
export const NUMBER: Json = { type: 'number' }
export const WHOLE: Json = { type: 'integer', minimum: 0 }
export const FLAG: Json = { type: 'boolean' }
export const ANY: Json = {}
export const MODE: Json = { type: 'string', enum: ['read', 'write'] }
export const KIND: Json = { type: 'string', enum: ['lock', 'operation'] }
/** Where many are listed, both are unless one is named; a single key is a lock unless this is said. */
export const KIND_OF_KEY: Json = { ...KIND, default: 'lock' }
export const WAIT: Json = {
  description: 'Milliseconds, or "forever" for as long as the connection lasts.',
  oneOf: [{ type: 'integer', minimum: 0 }, { const: 'forever' }],
}

/** For requests to which no `request_id` is given. */
export const IDEMPOTENT: Json = {
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: 256,
    description: 'The same on every retry: within a minute the answer is the first one.',
  },
}

/** For requests that are held open. */
export const PROCESSING: Json = {
  Prefer: {
    const: 'processing',
    description: 'Say 102 as soon as the request stands in the queue.',
  },
}

/** For streams. */
export const RESUMED: Json = { 'Last-Event-ID': TEXT }

/** An object; a name that ends with `!` is required. */
export function object(members: Json, description?: string): Json {
  const names = Object.keys(members)
  const required = names.filter((name) => name.endsWith('!')).map((name) => name.slice(0, -1))
  const properties = Object.fromEntries(
    names.map((name) => [name.replace('!', ''), members[name]] as const),
  )
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(description === undefined ? {} : { description }),
  }
}

export function list(items: Json): Json {
  return { type: 'array', items }
}

export function schema(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}

export interface OperationParts {
  readonly summary: string
  readonly body?: Json | undefined
  /** Query parameters; a name that ends with `!` is required. */
  readonly query?: Json | undefined
  /** Headers that this path reads, apart from those that every path does. */
  readonly headers?: Json | undefined
  /** What each status answers. The ones that every route shares are added. */
  readonly answers: Readonly<Record<string, Json>>
  /** Anybody may call it. */
  readonly isOpen?: boolean
}

/** One method of a path. The parameters of the path itself are written from its braces. */
export function operation(path: string, parts: OperationParts): Json {
  const { summary, body, query = {}, headers = {}, answers, isOpen = false } = parts
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
      parameter(`${name ?? ''}!`, 'path', TEXT),
    ),
    ...Object.entries(query).map(([name, type]) => parameter(name, 'query', type as Json)),
    ...Object.entries(headers).map(([name, type]) => parameter(name, 'header', type as Json)),
  ]
  return {
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: { ...answers, ...(isOpen ? {} : SHARED_ANSWERS) },
    ...(isOpen ? { security: [] } : {}),
  }
}

/** An answer in JSON. */
export function answer(description: string, body: Json): Json {
  return { description, content: json(body) }
}

/** An answer of another type. */
export function text(description: string, type: string): Json {
  return { description, content: { [type]: { schema: TEXT } } }
}

function json(body: Json): Json {
  return { 'application/json': { schema: body } }
}

function parameter(name: string, place: string, type: Json): Json {
  return { name: name.replace('!', ''), in: place, required: name.endsWith('!'), schema: type }
}

const SHARED_ANSWERS: Readonly<Record<string, Json>> = {
  '400': answer('The request is wrong; `field` says where.', schema('Error')),
  '401': answer('A bearer token is needed.', schema('Error')),
  '429': answer('A limit is reached; try again after `Retry-After`.', schema('Error')),
  '503': answer('The engine cannot work at the moment, or the server stops.', schema('Error')),
}
