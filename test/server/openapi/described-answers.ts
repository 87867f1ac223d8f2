import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { Router } from '../../../src/server/http/router.ts'
import type { Route } from '../../../src/server/http/route.ts'
import { describeRoutes } from '../../../src/server/openapi/describe-routes.ts'
import { ROUTES } from '../../../src/server/routes/routes.ts'
import { DEFAULT_LIMITS } from '../../../src/server/server-limits.ts'

/** What a test heard from a server, to be compared with what `/openapi.json` says of it. */
export interface HeardAnswer {
  readonly method: string
  /** With what follows the question mark. */
  readonly path: string
  readonly status: number
  /** JSON, or the text of anything else. */
  readonly body: unknown
}

interface DescribedResponse {
  readonly content?: Readonly<Record<string, unknown>>
}

interface DescribedOperation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, DescribedResponse>>
  readonly security?: readonly unknown[]
}

/** The description of a server with the usual limits. */
export const DOCUMENT = describeRoutes(ROUTES, DEFAULT_LIMITS) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

/** Too slow, and too long a head: no operation has anything to do with them. */
const BEFORE_ANY_ROUTE: ReadonlySet<number> = new Set([408, 431])

const JSON_TYPE = 'application/json'
const router = new Router(ROUTES)
const ajv = new Ajv2020({ strict: false, validateSchema: false })
formats.default(ajv)
ajv.addSchema(withoutMore(DOCUMENT) as object, 'openapi')
const validators = new Map<string, ValidateFunction>()

/** The operations that were heard, each with the statuses of its answers. */
export const heard: Map<string, Set<number>> = new Map()

/** Throws for an answer that the description has not, or has otherwise. No member may be missing in it. */
export function assertDescribed({ method, path, status, body }: HeardAnswer): void {
  const route = routeOf(method, path)
  if (route === undefined || BEFORE_ANY_ROUTE.has(status)) return
  heard.set(route.id, (heard.get(route.id) ?? new Set()).add(status))
  const { content } = responseOf(route, status)
  const [type] = Object.keys(content ?? {})
  if (type !== JSON_TYPE) return
  assertValid(`${placeOf(route)}/responses/${status}/content/${escape(JSON_TYPE)}/schema`, body)
  if (route.id === 'batch' && status === 200) assertItemsDescribed(body)
}

/** The same for what one event of a stream says. */
export function assertEventDescribed(path: string, data: unknown): void {
  const route = routeOf('GET', path)
  if (route?.isStream !== true) throw new Error(`${path} is no stream`)
  const type = escape('text/event-stream')
  assertValid(`${placeOf(route)}/responses/200/content/${type}/x-event-data`, data)
}

/** The route of a request; `undefined` for a path or method that none has, and for one that cannot be read. */
function routeOf(method: string, path: string): Route | undefined {
  try {
    const found = router.find(method, path.replace(/\?.*$/s, ''))
    return found !== undefined && 'route' in found && method !== 'HEAD' ? found.route : undefined
  } catch {
    return undefined
  }
}

function responseOf({ id, path, method }: Route, status: number): DescribedResponse {
  const response = DOCUMENT.paths[path]?.[method.toLowerCase()]?.responses[status]
  if (response === undefined) throw new Error(`${id} is not described to answer ${status}`)
  return response
}

/** What an item of a batch is answered is what its command would be answered alone. */
function assertItemsDescribed(items: unknown): void {
  for (const { status, ...body } of items as { status: number; outcome?: string }[]) {
    const isKnown = ROUTES.some(
      (route) =>
        route.path.startsWith('/v1/') &&
        route.method === 'POST' &&
        status in route.answers &&
        isValid(`${placeOf(route)}/responses/${status}/content/${escape(JSON_TYPE)}/schema`, body),
    )
    if (!isKnown && !isValid('/components/schemas/Error', body)) {
      throw new Error(`no command is answered ${status} with ${JSON.stringify(body)}`)
    }
  }
}

function placeOf({ path, method }: Route): string {
  return `/paths/${escape(path)}/${method.toLowerCase()}`
}

/** For a JSON pointer in a fragment of an address. */
function escape(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function assertValid(pointer: string, value: unknown): void {
  const validate = validatorOf(pointer)
  if (validate(value)) return
  const why = ajv.errorsText(validate.errors)
  throw new Error(`${pointer} does not describe ${JSON.stringify(value)}: ${why}`)
}

function isValid(pointer: string, value: unknown): boolean {
  return validatorOf(pointer)(value)
}

function validatorOf(pointer: string): ValidateFunction {
  let validate = validators.get(pointer)
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `openapi#${pointer}`, unevaluatedProperties: false })
    validators.set(pointer, validate)
  }
  return validate
}

/**
 * The same description, in which a member that it does not name is a mistake. That is said where a schema is
 * used and not where it stands, because a schema may be one of several parts of an object.
 */
function withoutMore(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutMore)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([name, member]) => [name, strict(name, withoutMore(member))]),
  )
}

function strict(name: string, member: unknown): unknown {
  if (name === 'properties') {
    return Object.fromEntries(
      Object.entries(member as object).map(([property, schema]) => [property, close(schema)]),
    )
  }
  if (name === 'items' || name === 'x-event-data') return close(member)
  return member
}

/** A schema that says nothing of a value leaves its members open. */
function close(schema: unknown): unknown {
  const isAny = Object.keys(schema as object).every((word) => word === 'description')
  return isAny ? schema : { ...(schema as object), unevaluatedProperties: false }
}
