import type { Field, Schema } from '../http/fields.ts'
import type { DescribedAnswer, RequestHeader, Route } from '../http/route.ts'
import type { ServerLimits } from '../server-limits.ts'
import { answer, anyOf, TEXT } from './schema-words.ts'
import { SCHEMAS } from './schemas.ts'

const ABOUT =
  'Locks with fair queues, leases and fencing tokens. Unknown fields are ignored; `null` is the same as absent. ' +
  'A path or method that is not here is answered 404 or 405; a request that comes too slowly, or has too long a head, 408 or 431.'

/** The HTTP interface for programs, as a server with these limits has it. */
export function describeRoutes(routes: readonly Route[], limits: ServerLimits): Schema {
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = describeRoute(route, limits)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast',
      version: '1',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function describeRoute(route: Route, limits: ServerLimits): Schema {
  const { id, summary, access, fields, headers } = route
  const parameters = [
    ...fields.filter(({ place }) => place !== 'body').map((field) => toParameter(field, limits)),
    ...headers.map((name) => ({ name, in: 'header', ...REQUEST_HEADERS[name] })),
  ]
  const body = bodyOf(route, limits)
  return {
    operationId: id,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: toJson(body) } }),
    responses: describeAnswers(route),
    ...(access === 'open' ? { security: [] } : {}),
  }
}

/** The schema of a body; `undefined` for a route that reads none. */
export function bodyOf(
  { fields, bodySchema }: Pick<Route, 'fields' | 'bodySchema'>,
  limits: ServerLimits,
): Schema | undefined {
  if (bodySchema !== undefined) return bodySchema(limits)
  const members = fields.filter(({ place }) => place === 'body')
  if (members.length === 0) return undefined
  return {
    type: 'object',
    properties: Object.fromEntries(members.map((field) => [field.wire, toSchema(field, limits)])),
    required: members.filter(({ isNeeded }) => isNeeded).map(({ wire }) => wire),
  }
}

function toParameter(field: Field, limits: ServerLimits): Schema {
  const { wire, place, isNeeded } = field
  const { description, ...schema } = toSchema(field, limits)
  const about = description === undefined ? {} : { description }
  return { name: wire, in: place, required: isNeeded, ...about, schema }
}

/** A default is said in words: generators take a member of a body that has one for one that is always there. */
function toSchema({ schema, about, byDefault }: Field, limits: ServerLimits): Schema {
  const own = typeof schema === 'function' ? schema(limits) : schema
  const fallback = byDefault === undefined ? undefined : `Default: \`${byDefault}\`.`
  const words = [about ?? (own['description'] as string | undefined), fallback]
  const description = words.filter((part) => part !== undefined).join(' ')
  return description === '' ? own : { ...own, description }
}

const REQUEST_HEADERS: Readonly<Record<RequestHeader, Schema>> = {
  'Idempotency-Key': {
    description: 'The same on every retry: within a minute the answer is the first one.',
    schema: { type: 'string', minLength: 1, maxLength: 256 },
  },
  Prefer: {
    description: 'Say 102 as soon as the request stands in the queue.',
    schema: { const: 'processing' },
  },
  'Last-Event-ID': { description: 'The last event that was heard.', schema: TEXT },
}

/** What every route can answer, and when it can. */
const SHARED: readonly (readonly [
  status: number,
  description: string,
  isFor?: (route: Route) => boolean,
])[] = [
  [
    400,
    'The request is wrong; `field` says where.',
    (route) => route.fields.length > 0 || hasBody(route),
  ],
  [401, 'A bearer token is needed.', ({ access }) => access !== 'open'],
  [403, 'The caller may not do this.'],
  [413, 'The body is too long.', hasBody],
  [
    422,
    'The idempotency key was used for another request.',
    ({ headers }) => headers.includes('Idempotency-Key'),
  ],
  [429, 'A limit is reached.', ({ access }) => access !== 'open'],
  [500, 'The server has failed.'],
  [
    503,
    'The engine cannot work at the moment, the server stops, or there are too many connections.',
  ],
]

/** A body is read even where the route has no use for it. */
function hasBody({ method }: Route): boolean {
  return method !== 'GET'
}

function describeAnswers(route: Route): Schema {
  const answers: Record<number, DescribedAnswer> = { ...route.answers }
  for (const [status, description, isFor] of SHARED) {
    if (isFor !== undefined && !isFor(route)) continue
    const shared = answer(description, 'Error')
    const own = answers[status]
    answers[status] = own === undefined ? shared : either(own, shared)
  }
  const described = Object.entries(answers).map(([status, one]) => [
    status,
    toResponse(status, one),
  ])
  return Object.fromEntries(described) as Schema
}

function either(own: DescribedAnswer, shared: DescribedAnswer): DescribedAnswer {
  const description = `${own.description} Or: ${shared.description}`
  return { ...own, description, schema: anyOf(own.schema as Schema, shared.schema as Schema) }
}

function toResponse(
  status: string,
  { description, schema, mediaType, events, headers = {} }: DescribedAnswer,
): Schema {
  const all = status === '429' || status === '503' ? { ...headers, ...RETRY_AFTER } : headers
  const named = Object.entries(all).map(([name, about]) => [
    name,
    { description: about, schema: TEXT },
  ])
  const text =
    mediaType === undefined ? undefined : { [mediaType]: { schema: TEXT, ...toEvents(events) } }
  const content = schema === undefined ? text : toJson(schema)
  return {
    description,
    ...(named.length === 0 ? {} : { headers: Object.fromEntries(named) as Schema }),
    ...(content === undefined ? {} : { content }),
  }
}

const RETRY_AFTER = { 'Retry-After': 'Seconds after which asking again makes sense.' }

/** OpenAPI 3.1 has no word for the events of a stream, so it gets one of its own. */
function toEvents(events: Schema | undefined): Schema {
  return events === undefined ? {} : { 'x-event-data': events }
}

function toJson(schema: Schema): Schema {
  return { 'application/json': { schema } }
}
