import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runTool } from '../../meta/guards/run-tool.ts'
import { createTemporaryProject } from '../../meta/guards/temporary-project.ts'
import { typeCheck } from '../../meta/guards/type-check.ts'
import { type Served, serve } from '../served.ts'

/**
 * The generator wants the compiler's interface for programs, which TypeScript 7 has not; it is given that of
 * the version before.
 */
const WITH_COMPILER = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module'
  const resolve = (name, context, next) =>
    next(name === 'typescript' ? 'typescript-api' : name, context)
  register('data:text/javascript,' + encodeURIComponent('export const resolve = ' + resolve))
`)}`

/** What a user of the generated types writes. */
const PROGRAM = `
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })
const hold = { key: 'orders/42', owner: 'worker-1' }

const granted = await client.POST('/v1/acquire', { body: { ...hold, meta: { job: 7 } } })
if (granted.data?.outcome !== 'granted') throw new Error('it is not granted')
const token: number = granted.data.token

const refused = await client.POST('/v1/acquire', { body: { ...hold, owner: 'worker-2', wait_ms: 0 } })
if (refused.error === undefined || !('outcome' in refused.error)) throw new Error('it is not refused')
const code: components['schemas']['Refused']['code'] = refused.error.code
const holders: string[] = refused.error.holders?.map(({ owner }) => owner) ?? []

const path = { key: hold.key }
const { data: lock } = await client.GET('/v1/locks/{key}', { params: { path } })
const meta: Record<string, unknown> | undefined = lock?.holders[0]?.meta
const { data: page } = await client.GET('/v1/locks', { params: { query: { prefix: 'orders/', limit: 10 } } })
const keys: string[] = page?.locks.map(({ key }) => key) ?? []

const batch = [
  { op: 'renew', ...hold, ttl_ms: 60_000 },
  { op: 'release', ...hold, token: 0 },
] as const
const answers = await client.POST('/v1/batch', { body: [...batch] })
const statuses = answers.data?.map(({ status }) => status)

const released = await client.POST('/v1/release', { body: { ...hold, token } })
const isReleased: true | undefined = released.data?.released

const node = { type: 'pull', resource_id: 'layer', node_id: 'n' }
const locked = await client.POST('/lock', { body: node })
const { data: status } = await client.GET('/lock/status', { params: { query: node } })
const holder: string | null | undefined = status?.holder

console.log(
  JSON.stringify({
    token, code, holders, meta, keys, statuses, isReleased, holder, acquired: locked.data?.acquired,
  }),
)

/** Never called: what the types refuse. */
export function wrong(): void {
  // @ts-expect-error -- an owner is needed
  void client.POST('/v1/acquire', { body: { key: 'k' } })
  // @ts-expect-error -- there is no such mode
  void client.POST('/v1/acquire', { body: { ...hold, mode: 'exclusive' } })
  // @ts-expect-error -- an object is needed
  void client.POST('/v1/acquire', { body: { ...hold, meta: 'job 7' } })
  // @ts-expect-error -- nothing in a batch sings
  void client.POST('/v1/batch', { body: [{ op: 'sing', ...hold }] })
  // @ts-expect-error -- there is no such path
  void client.GET('/v1/lock')
}
`

let served: Served

beforeEach(async () => {
  served = await serve()
})

afterEach(() => served.close())

it('a client that is generated from the description compiles, and does what it says', async () => {
  const { body } = await served.call('/openapi.json')
  const folder = createTemporaryProject([
    { path: 'package.json', text: '{ "type": "module" }' },
    { path: 'openapi.json', text: JSON.stringify(body) },
    { path: 'src/client.ts', text: PROGRAM },
  ])
  const generated = runTool('openapi-typescript/bin/cli.js', {
    cwd: folder,
    args: ['openapi.json', '--output', 'src/api.ts'],
    nodeArgs: ['--import', WITH_COMPILER],
  })
  expect(generated.status, generated.output).toBe(0)
  const types = readFileSync(join(folder, 'src/api.ts'), 'utf8')
  const empty = types.split('\n').filter((line) => line.includes('Record<string, never>'))
  expect(empty.filter((line) => !/^export type (webhooks|\$defs) =/.test(line))).toEqual([])
  expect(typeCheck({ folder })).toEqual([])

  const program = spawn(process.execPath, ['out/client.js', served.server.url], { cwd: folder })
  let [said, wrong] = ['', '']
  program.stdout.on('data', (text: Buffer) => (said += text))
  program.stderr.on('data', (text: Buffer) => (wrong += text))
  await once(program, 'close')
  expect(wrong).toBe('')
  expect(JSON.parse(said)).toEqual({
    token: 1,
    code: 'held',
    holders: ['worker-1'],
    meta: { job: 7 },
    keys: ['orders/42'],
    statuses: [200, 403],
    isReleased: true,
    holder: 'n',
    acquired: true,
  })
})
