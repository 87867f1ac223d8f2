import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ClientRig } from './client-rig.ts'

let rig: ClientRig

beforeEach(async () => {
  rig = await ClientRig.open()
})

afterEach(() => rig.close())

const PULL = { type: 'pull', resourceId: 'layer' }
const OTHER = { type: 'pull', resourceId: 'other' }
const ACQUIRED = { acquired: true, skipped: false, error: null }

/** Whatever has happened, the client and the server still understand each other. */
async function expectThatItWorks(client: ReturnType<ClientRig['client']>): Promise<void> {
  const operation = { type: 'check', resourceId: 'afterwards' }
  expect(await client.lock(operation)).toMatchObject(ACQUIRED)
  expect(await client.unlock(operation)).toMatchObject({ released: true })
}

async function untilDropped(): Promise<void> {
  while (rig.proxy.counters.toClient.bytesDropped === 0) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function tokenOf(resource: string): Promise<number | null> {
  const { token } = await rig.engine.read({
    kind: 'inspect',
    namespace: 'operation',
    key: resource,
  })
  return token
}

describe('a lock client that polls', () => {
  const options = { waitBy: 'polling', pollInterval: 20 } as const

  it('asks again when the answer to its lock was lost, and holds it once', async () => {
    const a = rig.proxied('node-a', options)
    await a.lock(OTHER)
    rig.proxy.set({ toClient: { kind: 'swallow' } })
    const { acquired, token } = await a.lock(PULL)
    expect(acquired).toBe(true)
    expect(rig.proxy.counters.answersSwallowed).toBe(1)
    expect(await tokenOf('layer')).toBe(token)
    expect(await a.unlock(PULL)).toEqual({ released: true, error: null })
    await expectThatItWorks(a)
  })

  it('asks again when the answer to its unlock was lost, and hears that it released', async () => {
    const a = rig.proxied('node-a', options)
    await a.lock(PULL)
    rig.proxy.set({ toClient: { kind: 'swallow' } })
    expect(await a.unlock(PULL)).toEqual({ released: true, error: null })
    expect(rig.proxy.counters.answersSwallowed).toBe(1)
    await expectThatItWorks(a)
  })

  it('survives resets while it waits', async () => {
    const [a, b] = [rig.client('node-a', options), rig.proxied('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    for (let times = 0; times < 5; times += 1) rig.proxy.resetConnections()
    await a.unlock({ ...PULL, error: 'disk full' })
    expect(await locking).toMatchObject(ACQUIRED)
    expect(rig.proxy.counters.connectionsReset).toBeGreaterThan(0)
    await expectThatItWorks(b)
  })

  it('survives a restart of the server while it waits', async () => {
    const [a, b] = [rig.client('node-a', options), rig.client('node-b', options)]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    await rig.restartServer()
    expect(await a.unlock({ ...PULL, error: 'disk full' })).toMatchObject({ released: true })
    expect(await locking).toMatchObject(ACQUIRED)
    await expectThatItWorks(b)
  })
})

describe('a lock client that listens', () => {
  it('asks again when the answer to its lock was lost, and holds it once', async () => {
    const a = rig.proxied('node-a')
    rig.proxy.set({ toClient: { kind: 'swallow', answers: 2 } })
    const { acquired, token } = await a.lock(PULL)
    expect(acquired).toBe(true)
    expect(rig.proxy.counters.answersSwallowed).toBe(2)
    expect(await tokenOf('layer')).toBe(token)
    expect(await a.unlock(PULL)).toEqual({ released: true, error: null })
    await expectThatItWorks(a)
  })

  it('asks again when the answer to its unlock was lost, and hears that it released', async () => {
    const a = rig.proxied('node-a')
    await a.lock(PULL)
    rig.proxy.set({ toClient: { kind: 'swallow', answers: 2 } })
    expect(await a.unlock(PULL)).toEqual({ released: true, error: null })
    expect(rig.proxy.counters.answersSwallowed).toBeGreaterThan(0)
    await expectThatItWorks(a)
  })

  it('survives resets while it waits, and keeps its place', async () => {
    const [a, b, c] = [rig.client('node-a'), rig.proxied('node-b'), rig.client('node-c')]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    const last = c.lock(PULL)
    await rig.untilWaiting(2)
    rig.proxy.resetConnections()
    await a.unlock({ ...PULL, error: 'disk full' })
    expect(await locking).toMatchObject(ACQUIRED)
    expect(rig.proxy.counters.connectionsReset).toBeGreaterThan(0)
    await b.unlock({ ...PULL, error: 'disk full' })
    expect(await last).toMatchObject(ACQUIRED)
    await expectThatItWorks(b)
  })

  it('survives a restart of the server while it waits', async () => {
    const [a, b] = [rig.client('node-a'), rig.client('node-b')]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    await rig.restartServer()
    expect(await a.unlock({ ...PULL, error: 'disk full' })).toMatchObject({ released: true })
    expect(await locking).toMatchObject(ACQUIRED)
    await expectThatItWorks(b)
  })

  it('finds its grant although its stream has become a black hole', async () => {
    const [a, b] = [rig.client('node-a'), rig.proxied('node-b')]
    await a.lock(PULL)
    const locking = b.lock(PULL)
    await rig.untilWaiting(1)
    // The answer has arrived: what gets lost from here on is what the stream says.
    await b.status(PULL)
    rig.proxy.set({ toClient: { kind: 'black-hole' } })
    await untilDropped()
    rig.proxy.set({})
    await a.unlock({ ...PULL, error: 'disk full' })
    expect(await locking).toMatchObject(ACQUIRED)
    expect(rig.proxy.counters.toClient.bytesDropped).toBeGreaterThan(0)
    await expectThatItWorks(b)
  })
})

describe('a time-out', () => {
  it('is tried again, and the request takes effect once', async () => {
    const a = rig.proxied('node-a', { waitBy: 'polling', requestTimeout: 2_000 })
    await a.lock(OTHER)
    rig.proxy.set({ toClient: { kind: 'black-hole' } })
    const locking = a.lock(PULL)
    await untilDropped()
    rig.proxy.set({})
    const { acquired, token } = await locking
    expect(acquired).toBe(true)
    expect(rig.proxy.counters.toClient.bytesDropped).toBeGreaterThan(0)
    expect(await tokenOf('layer')).toBe(token)
    await expectThatItWorks(a)
  })

  it('is an error when it happens as often as is tried', async () => {
    const a = rig.proxied('node-a', {
      waitBy: 'polling',
      requestTimeout: 1_000,
      maxRetries: 2,
      retryInterval: 1,
    })
    rig.proxy.set({ toClient: { kind: 'black-hole' } })
    const { error } = await a.lock(PULL)
    expect(error).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
    expect(rig.proxy.counters.connectionsAccepted).toBeGreaterThanOrEqual(3)
  })
})
