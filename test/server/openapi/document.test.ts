import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/server/routes/routes.ts'
import { type Served, serve } from '../served.ts'
import { DOCUMENT } from './described-answers.ts'

const PATHS = DOCUMENT.paths

describe('the description', () => {
  it('is one by the rules of OpenAPI', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(DOCUMENT))
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
  })

  it('is none any more without the name of a parameter', async () => {
    const broken = structuredClone(DOCUMENT)
    Object.assign(broken.paths['/v1/locks/{key}']?.['get']?.parameters?.[0] ?? {}, { name: 7 })
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  it('gives every operation a name of its own and says what it does', () => {
    const operations = Object.values(PATHS).flatMap((methods) => Object.values(methods))
    const names = operations.map(({ operationId }) => operationId)
    expect(names.every((name) => /^[a-z][A-Za-z]+$/.test(name))).toBe(true)
    expect(new Set(names).size).toBe(ROUTES.length)
    expect(operations.filter(({ summary }) => !summary.endsWith('.'))).toEqual([])
  })

  it('refers to what it has, and has nothing to which it does not refer', () => {
    const { schemas } = DOCUMENT.components
    const references = [...JSON.stringify(DOCUMENT).matchAll(/"#\/components\/schemas\/(\w+)"/g)]
    const names = new Set(references.map(([, name]) => name ?? ''))
    expect([...names].filter((name) => !(name in schemas))).toEqual([])
    expect(Object.keys(schemas).filter((name) => !names.has(name))).toEqual([])
  })

  it('has the limits of its server', async () => {
    const served = await serve({ limits: { key: 7, ttl: 1_000 } })
    const { body } = await served.call('/openapi.json')
    await served.close()
    expect(body).toMatchObject({
      paths: {
        '/v1/acquire': {
          post: {
            requestBody: {
              content: {
                'application/json': {
                  schema: { properties: { key: { maxLength: 7 }, ttl_ms: { maximum: 1_000 } } },
                },
              },
            },
          },
        },
      },
    })
  })
})

it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s: the names in its path and who may call it are described',
  (_, { method, path, access }) => {
    const operation = PATHS[path]?.[method.toLowerCase()]
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const inPath = (operation?.parameters ?? []).filter((one) => one.in === 'path')
    expect(inPath.map(({ name }) => name)).toEqual(names)
    expect(operation?.security !== undefined).toBe(access === 'open')
    expect(Object.keys(operation?.responses ?? {})).toContain(
      path === '/v1/session' ? '101' : '200',
    )
  },
)

/** What a route needs to be asked rightly; a key for its answer is read after that. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /v1/acquire': { key: 'k', owner: 'o' },
  'POST /v1/release': { key: 'k', owner: 'o' },
  'POST /v1/renew': { key: 'k', owner: 'o', ttl_ms: 1_000 },
  'POST /v1/cancel': { key: 'k', owner: 'o' },
  'POST /v1/batch': [],
  'DELETE /v1/locks/{key}': {},
  'POST /v1/begin': { type: 'pull', resource: 'r', node: 'n' },
  'POST /v1/finish': { type: 'pull', resource: 'r', node: 'n', success: true },
  'POST /v1/withdraw': { type: 'pull', resource: 'r', node: 'n' },
  'POST /v1/unref': { node: 'n' },
  'POST /v1/sweep': {},
  'PUT /v1/sessions/{session}': { grace_ms: 5_000 },
  'POST /v1/sessions/{session}': {},
  'DELETE /v1/sessions/{session}': {},
  'POST /lock': { type: 'pull', resource_id: 'r', node_id: 'n' },
  'POST /unlock': { type: 'pull', resource_id: 'r', node_id: 'n' },
  'POST /lock/status': { type: 'pull', resource_id: 'r', node_id: 'n' },
  'POST /unref': { node_id: 'n' },
}

function headersOf(path: string, method: string): string[] {
  const parameters = PATHS[path]?.[method.toLowerCase()]?.parameters ?? []
  return parameters.filter((one) => one.in === 'header').map(({ name }) => name)
}

describe('headers', () => {
  let served: Served

  beforeAll(async () => {
    served = await serve()
  })

  afterAll(() => served.close())

  it.each(ROUTES.filter(({ method }) => method !== 'GET'))(
    '$method $path: an idempotency-key is described if and only if it is read',
    async ({ method, path }) => {
      const body = BODIES[`${method} ${path}`]
      expect(body).toBeDefined()
      const answer = await served.call(path.replace(/\{\w+\}/, 'x'), {
        method,
        body,
        headers: { 'idempotency-key': 'k'.repeat(257) },
      })
      const isRead = answer.status === 400 && answer.body['field'] === 'idempotency-key'
      expect(headersOf(path, method).includes('Idempotency-Key')).toBe(isRead)
    },
  )

  it('what is held open says that it tells of its place, and streams that they go on', () => {
    const described = (name: string): string[] =>
      ROUTES.filter(({ method, path }) => headersOf(path, method).includes(name)).map(
        ({ path }) => path,
      )
    expect(described('Prefer')).toEqual(['/v1/acquire', '/v1/begin', '/lock'])
    const streams = ROUTES.filter(({ isStream }) => isStream).map(({ path }) => path)
    expect(described('Last-Event-ID')).toEqual(streams)
  })
})
