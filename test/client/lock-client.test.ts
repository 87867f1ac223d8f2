import { afterEach, describe, expect, it } from 'vitest'
import { LockClient } from '../../src/client/lock-client.ts'
import type { LawSettings } from '../../src/law/model/settings.ts'
import { StubServer } from './stub-server.ts'
import { ClientRig } from './client-rig.ts'

let rig: ClientRig

afterEach(() => rig.close())

async function open(settings: Partial<LawSettings> = {}): Promise<void> {
  rig = await ClientRig.open(settings)
}

const PULL = { type: 'pull', resourceId: 'layer' }
const SKIPPED = { acquired: false, skipped: true, error: null }
const ACQUIRED = { acquired: true, skipped: false, error: null }

describe.each(['events', 'polling'] as const)('a lock client that waits by %s', (waitBy) => {
  const options = { waitBy, pollInterval: 20 }

  it('acquires what is free, and releases it', async () => {
    await open()
    const a = rig.client('node-a', options)
    const result = await a.lock(PULL)
    expect(result).toMatchObject({ ...ACQUIRED, token: expect.any(Number) })
    expect(await a.unlock(PULL)).toEqual({ released: true, error: null })
  })

  it('skips what is done, with the value that was left', async () => {
    await open()
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    await a.unlock({ ...PULL, value: { size: 7 } })
    expect(await b.lock(PULL)).toEqual({ ...SKIPPED, value: { size: 7 } })
  })

  it('waits for the work of another, and skips it with its value', async () => {
    await open()
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    await a.unlock({ ...PULL, value: 'done' })
    expect(await locking).toEqual({ ...SKIPPED, value: 'done' })
    expect(await a.refs('layer')).toEqual({
      resource_id: 'layer',
      count: 2,
      nodes: ['node-a', 'node-b'],
    })
  })

  it('acquires after another has failed', async () => {
    await open()
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    await a.unlock({ ...PULL, error: new Error('disk full') })
    expect(await locking).toMatchObject(ACQUIRED)
    expect(await b.unlock(PULL)).toMatchObject({ released: true })
  })

  it('is told to look for itself where clients coordinate', async () => {
    await open({ coordination: 'client' })
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    await a.unlock(PULL)
    expect(await locking).toEqual({ ...SKIPPED, dissolved: true })
    expect(await b.lock(PULL)).toMatchObject(ACQUIRED)
  })

  it('acquires after a success in a mutex', async () => {
    await open({ coordination: 'mutex' })
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    await a.unlock(PULL)
    expect(await locking).toMatchObject(ACQUIRED)
  })

  it('gets a refusal as an error, without trying again', async () => {
    await open({ multiNode: false })
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const { acquired, skipped, error } = await b.lock(PULL)
    expect({ acquired, skipped, code: error?.code }).toEqual({
      acquired: false,
      skipped: false,
      code: 'LOCK_HELD',
    })
    await a.unlock(PULL)
    const deletion = await b.lock({ type: 'delete', resourceId: 'layer' })
    expect(deletion.error).toMatchObject({ code: 'LOCK_IN_USE', details: { nodes: ['node-a'] } })
  })

  it('gives up its place when its signal aborts', async () => {
    await open()
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const abort = new AbortController()
    const locking = b.lock(PULL, { signal: abort.signal })
    await rig.untilWaiting(1)
    abort.abort()
    await expect(locking).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
    await rig.untilWaiting(0)
  })

  it('shows how an operation stands, and drops references', async () => {
    await open()
    const a = rig.client('node-a', options)
    await a.lock(PULL)
    expect(await a.status(PULL)).toMatchObject({ acquired: true, holder: 'node-a' })
    await a.unlock(PULL)
    expect(await a.unref('layer')).toEqual({ removed: true, count: 0 })
    expect(await a.unref()).toEqual({ removed: 0 })
  })

  it('says so when it releases what it does not hold', async () => {
    await open()
    const { released, error } = await rig.client('node-a', options).unlock(PULL)
    expect({ released, code: error?.code }).toEqual({ released: false, code: 'LOCK_NOT_HOLDER' })
  })

  it.each([
    ['is no JSON', 7n],
    ['is too long', 'x'.repeat(10_000)],
  ])('says so at once when the value that it leaves %s', async (_, value) => {
    await open()
    const a = rig.client('node-a', options)
    await a.lock(PULL)
    const { released, error } = await a.unlock({ ...PULL, value })
    expect({ released, code: error?.code }).toEqual({
      released: false,
      code: 'LOCK_INVALID_ARGUMENT',
    })
  })

  it('returns an error when the server cannot be reached as often as it tries', async () => {
    await open()
    const url = rig.url
    await rig.stopServer()
    const client = new LockClient({
      server: url,
      nodeId: 'node-a',
      maxRetries: 2,
      retryInterval: 10,
      waitBy,
    })
    const { acquired, error } = await client.lock(PULL)
    expect({ acquired, code: error?.code }).toEqual({
      acquired: false,
      code: 'LOCK_ENGINE_UNAVAILABLE',
    })
    // No connection was made, so nothing was sent.
    expect(error).toMatchObject({ applied: 'no' })
    await client.close()
  })

  it('says that a request may be applied if only the last attempt found no server', async () => {
    let requests = 0
    const stub = await StubServer.listen(({ response }) => {
      requests += 1
      response.destroy()
      void stub[Symbol.asyncDispose]()
    })
    const client = new LockClient({
      server: stub.url,
      nodeId: 'node-a',
      maxRetries: 3,
      retryInterval: 50,
      waitBy: 'polling',
    })
    const { error } = await client.lock(PULL)
    expect(requests).toBe(1)
    expect(error).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
    await client.close()
  })

  it('leaves nothing behind when it is closed', async () => {
    await open()
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    const result = locking.catch((error: unknown) => ({ error }))
    await b.close()
    expect(await result).toMatchObject({ error: { name: expect.any(String) } })
    await rig.untilWaiting(0)
    await expect(b.lock(PULL)).rejects.toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
  })
})

describe('a lock client that waits by events', () => {
  it('is missed when it dies: the next one runs', async () => {
    await open()
    const [a, b] = [rig.proxied('node-a', { maxRetries: 0 }), rig.client('node-b')]
    const held = await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    rig.proxy.set({ toServer: { kind: 'reset' }, toClient: { kind: 'reset' } })
    rig.proxy.resetConnections()
    expect(await locking).toMatchObject(ACQUIRED)
    // And the one that was cut off knows it before that.
    expect(held.signal?.aborted).toBe(true)
    expect(held.signal?.reason).toMatchObject({ code: 'LOCK_LOST' })
  })

  it('keeps its lock when it comes back in time', async () => {
    await open()
    const a = rig.proxied('node-a')
    const { signal } = await a.lock(PULL)
    const accepted = rig.proxy.counters.connectionsAccepted
    rig.proxy.resetConnections()
    while (rig.proxy.counters.connectionsAccepted < accepted + 2) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(signal?.aborted).toBe(false)
    expect(await a.unlock(PULL)).toEqual({ released: true, error: null })
  })

  it('hears that its lock was taken away', async () => {
    await open()
    const a = rig.proxied('node-a')
    const { signal } = await a.lock(PULL)
    await rig.engine.apply({ kind: 'force', namespace: 'operation', key: 'layer' })
    const lost = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    rig.proxy.resetConnections()
    await lost
    expect(signal?.reason).toMatchObject({ code: 'LOCK_LOST' })
  })
})

describe('the options of a lock client', () => {
  it.each([
    ['server', { server: 'nowhere' }],
    ['server', { server: 'redis://host' }],
    ['nodeId', { nodeId: '' }],
    ['maxRetries', { maxRetries: -1 }],
    ['retryInterval', { retryInterval: 'soon' as never }],
    ['requestTimeout', { requestTimeout: 0 }],
    ['pollInterval', { pollInterval: 0 }],
    ['waitBy', { waitBy: 'magic' as never }],
  ])('are refused by name: %s', async (option, wrong) => {
    await open()
    const create = (): LockClient => new LockClient({ server: rig.url, nodeId: 'a', ...wrong })
    expect(create).toThrow(option)
  })
})
