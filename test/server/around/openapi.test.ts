import { expect, it } from 'vitest'
import { OPENAPI } from '../../../src/server/openapi/document.ts'
import { ROUTES } from '../../../src/server/routes/routes.ts'

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, unknown>>
  readonly security?: readonly unknown[]
}

const PATHS = OPENAPI['paths'] as Paths
const described = Object.entries(PATHS).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
)

it('every route is described, and nothing else', () => {
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`)
  expect(described.toSorted()).toEqual(routes.toSorted())
})

it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s: its parameters and who may call it are described',
  (_, { method, path, access }) => {
    const operation = PATHS[path]?.[method.toLowerCase()] as Operation
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const inPath = (operation.parameters ?? []).filter((one) => one.in === 'path')
    expect(inPath.map(({ name }) => name)).toEqual(names)
    expect(operation.security !== undefined).toBe(access === 'open')
    expect(Object.keys(operation.responses)).toContain('200')
  },
)

it('every reference leads somewhere', () => {
  const { schemas } = OPENAPI['components'] as { schemas: Readonly<Record<string, unknown>> }
  const references = [...JSON.stringify(OPENAPI).matchAll(/"#\/components\/schemas\/(\w+)"/g)]
  const names = new Set(references.map(([, name]) => name ?? ''))
  expect([...names].filter((name) => !(name in schemas))).toEqual([])
  expect(Object.keys(schemas).filter((name) => !names.has(name))).toEqual([])
})
