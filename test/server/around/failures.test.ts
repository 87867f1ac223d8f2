import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { createError } from '../../../src/engine/errors/errors.ts'
import { CLOSE_CODES } from '../../../src/wire/session/session-limits.ts'
import { Log } from '../../../src/server/observe/log.ts'
import { RawClient } from '../sessions/raw-client.ts'
import { type Served, serve } from '../served.ts'
import { openTestEngine } from '../test-engine.ts'

const ACQUIRE = { key: 'bad', owner: 'o' }
const COMMAND = { kind: 'acquire', requestId: '1', ...ACQUIRE } as const

interface Rig {
  readonly served: Served
  readonly client: RawClient
  /** From now on the engine fails like this, for what is about the key `bad` and for signs of life. */
  fail(error: Error): void
  /** Lines of the log, and the metric. */
  told(): Promise<readonly [lines: number, count: number]>
}

async function openRig(): Promise<Rig> {
  const real = await openTestEngine()
  let error: Error | undefined
  const lines: string[] = []
  const log = new Log({
    level: 'info',
    form: 'json',
    write: (line) => lines.push(line),
    wallMs: () => 0,
  })
  const served = await serve({ log, engine: failing(real, () => error) })
  const client = await RawClient.open(served.server.url)
  onTestFinished(async () => {
    client.cut()
    await served.close()
  })
  return {
    served,
    client,
    fail(thrown) {
      error = thrown
    },
    async told() {
      const { text } = (await served.call('/metrics')).body
      const count = /^holdfast_failures_total (\d+)$/m.exec(String(text))?.[1]
      return [lines.length, Number(count)]
    },
  }
}

const FAILING: ReadonlySet<unknown> = new Set(['apply', 'read', 'watch'])

function failing(engine: LockEngine, errorNow: () => Error | undefined): LockEngine {
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const method = value.bind(target) as (...asked: unknown[]) => unknown
      if (!FAILING.has(name)) return method
      return (...asked: unknown[]) => {
        const { kind, key, prefix } = asked[0] as Record<string, unknown>
        const isBad = key === 'bad' || prefix === 'bad' || kind === 'touch-session'
        const error = isBad ? errorNow() : undefined
        return error === undefined ? method(...asked) : Promise.reject(error)
      }
    },
  })
}

const DEFECT = new TypeError('a defect')
const FULL = createError('LOCK_STORAGE_FAILED', 'the disk is full')

it.each([
  ['a defect', DEFECT],
  ['the disk', FULL],
])('a request that fails for a reason of ours is logged and counted: %s', async (_, error) => {
  const rig = await openRig()
  rig.fail(error)
  expect((await rig.served.post('/v1/acquire', ACQUIRE)).status).toBeGreaterThanOrEqual(500)
  expect(await rig.told()).toEqual([1, 1])
})

it.each([
  ['a defect', DEFECT],
  ['the disk', FULL],
])('so is one in a batch: %s', async (_, error) => {
  const rig = await openRig()
  rig.fail(error)
  const good = { op: 'acquire', key: 'good', owner: 'o' }
  const { status } = await rig.served.post('/v1/batch', [good, { op: 'acquire', ...ACQUIRE }])
  expect(status).toBe(200)
  expect(await rig.told()).toEqual([1, 1])
})

it.each([
  ['a command', DEFECT, (client: RawClient) => client.ask(1, COMMAND)],
  ['a command', FULL, (client: RawClient) => client.ask(1, COMMAND)],
  ['a read', DEFECT, (client: RawClient) => client.read(1, { kind: 'inspect', key: 'bad' })],
  [
    'a watch',
    FULL,
    (client: RawClient) => client.say([1, { kind: 'watch', watch: 1, prefix: 'bad' }]),
  ],
])('so is one over a session: %s, %s', async (_, error, ask) => {
  const rig = await openRig()
  rig.fail(error)
  ask(rig.client)
  await rig.client.answer(1)
  expect(await rig.told()).toEqual([1, 1])
})

it('so is an answer that cannot be written', async () => {
  const rig = await openRig()
  const details = { odd: 1n }
  rig.fail(createError('LOCK_FORBIDDEN', 'with a detail that nothing can carry', { details }))
  rig.client.ask(1, COMMAND)
  expect(await rig.client.answer(1)).toMatchObject({ code: 'LOCK_INTERNAL' })
  expect(await rig.told()).toEqual([1, 1])
})

it('so is a heartbeat that the engine does not take', async () => {
  const rig = await openRig()
  const { client } = rig
  client.ask(1, { ...COMMAND, key: 'good', session: client.session })
  await client.answer(1)
  rig.fail(FULL)
  client.heartbeat(1)
  await expect.poll(() => rig.told()).toEqual([1, 1])
})

it('so is a session that the engine does not let come back', async () => {
  const rig = await openRig()
  rig.fail(FULL)
  const client = new RawClient(rig.served.server.url)
  await once(client.socket, 'open')
  await Promise.allSettled([client.greet({ session: 'f'.repeat(32) })])
  expect((await client.closed).code).toBe(CLOSE_CODES.stopping)
  expect(await rig.told()).toEqual([1, 1])
})

it('what the client did wrong, and a server that stops, are no failures of ours', async () => {
  const rig = await openRig()
  const codes = [
    'LOCK_INVALID_ARGUMENT',
    'LOCK_LIMIT',
    'LOCK_ENGINE_CLOSED',
    'LOCK_ABORTED',
  ] as const
  let id = 0
  for (const code of codes) {
    rig.fail(createError(code, 'no'))
    id += 1
    rig.client.ask(id, COMMAND)
    await rig.client.answer(id)
    await rig.served.post('/v1/acquire', ACQUIRE)
    await rig.served.post('/v1/batch', [{ op: 'acquire', ...ACQUIRE }])
  }
  expect(await rig.told()).toEqual([0, 0])
})
