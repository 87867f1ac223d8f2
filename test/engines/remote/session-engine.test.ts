import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocketServer } from 'ws'
import type { LockEngine, WatchEvent } from '../../../src/engine/engine.ts'
import { isLockError } from '../../../src/engine/errors/errors.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { SessionEngine } from '../../../src/engines/remote/session-engine.ts'
import type { SessionEngineOptions } from '../../../src/engines/remote/session-engine.ts'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { OPEN_REQUESTS_MAX } from '../../../src/wire/session/session-limits.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { OpenWait } from '../../../src/testing/engine-suite/queue/open-wait.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { FaultProxy } from '../../../src/testing/fault-proxy.ts'

const patience = new Patience(45_000)
const forever = Number.POSITIVE_INFINITY

interface Scene {
  readonly store: LockEngine
  readonly server: LockServer
  readonly proxy: FaultProxy
  readonly engine: SessionEngine
  readonly url: string
}

/** An engine here, its server, and between the two a network that can be harmed. */
async function openScene(options: SessionEngineOptions = {}, graceMs = 10_000): Promise<Scene> {
  const store = openMemoryEngine()
  const server = await LockServer.open({ engine: store, sessionGraceMs: graceMs })
  const proxy = await FaultProxy.listen({ target: { port: server.address.port } })
  const url = `http://${proxy.host}:${proxy.port}`
  const engine = await SessionEngine.open(url, options)
  onTestFinished(async () => {
    await engine.close()
    await proxy.close()
    await server.close()
    await store.close()
  })
  return { store, server, proxy, engine, url }
}

function acquire(owner: string, fields: Partial<Acquire> = {}): Acquire {
  return { kind: 'acquire', key: 'k', owner, requestId: '1', ttlMs: 60_000, ...fields }
}

async function failureOf(call: Promise<unknown>): Promise<{ code: string; applied: string }> {
  try {
    await call
  } catch (error) {
    if (isLockError(error)) return { code: error.code, applied: error.applied }
    throw error
  }
  throw new Error('it was due to fail')
}

describe('a connection that breaks', () => {
  it('after a request was done and before its answer arrived costs nothing, and nothing is done twice', async () => {
    const { engine, proxy } = await openScene()
    await engine.apply(acquire('a'))
    await engine.apply(acquire('a', { requestId: '2' }))
    proxy.set({ toClient: { kind: 'swallow' } })
    const release = { kind: 'release', key: 'k', owner: 'a' } as const
    const released = await engine.apply({ ...release, requestId: 'r' })
    expect(released).toEqual({ kind: 'released', reads: 0, writes: 1 })
    expect(proxy.counters.answersSwallowed).toBe(1)
    proxy.set({})
    const again = await engine.apply({ kind: 'release', key: 'k', owner: 'a' })
    expect(again).toEqual({ kind: 'released', reads: 0, writes: 0 })
  })

  it('twice in quick succession does not end a wait, and does not double it', async () => {
    const { engine, proxy, store } = await openScene()
    await engine.apply(acquire('holder'))
    const wait = new OpenWait('1', engine.apply(acquire('a', { waitMs: forever })), patience)
    for (let round = 0; round < 5; round += 1) {
      const { connectionsAccepted } = proxy.counters
      proxy.resetConnections()
      const isBack = (): boolean => proxy.counters.connectionsAccepted > connectionsAccepted
      await patience.until(isBack, 'it is connected again')
    }
    await engine.read({ kind: 'stats' })
    expect((await store.read({ kind: 'inspect', key: 'k' })).queueLength).toBe(1)
    expect(wait.isOpen).toBe(true)
    await engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await wait.answer()).toMatchObject({ kind: 'granted' })
    expect(proxy.counters.connectionsReset).toBeGreaterThanOrEqual(5)
  })

  it('and is only half open is noticed and made anew', async () => {
    const { engine, proxy } = await openScene({}, 1_000)
    await engine.apply(acquire('a'))
    const { connectionsAccepted } = proxy.counters
    proxy.set({ toServer: { kind: 'black-hole' }, toClient: { kind: 'black-hole' } })
    const release = engine.apply({ kind: 'release', key: 'k', owner: 'a', requestId: 'r' })
    await patience.until(() => proxy.counters.toServer.bytesDropped > 0, 'bytes went nowhere')
    proxy.set({})
    expect(await release).toMatchObject({ kind: 'released' })
    expect(proxy.counters.connectionsAccepted).toBeGreaterThan(connectionsAccepted)
  })

  it('ends a watch, which is opened again and tells its listener so', async () => {
    const { engine, proxy, store } = await openScene()
    const events: WatchEvent[] = []
    const isTold = (owner: string): boolean =>
      events.some((event) => event.kind !== 'reset' && event.owner === owner)
    await engine.watch({}, (event) => events.push(event))
    for (let round = 0; round < 5; round += 1) {
      await store.apply(acquire(`before${round}`, { key: `k${round}` }))
      await patience.until(() => isTold(`before${round}`), 'it hears of events')
      const resets = events.filter(({ kind }) => kind === 'reset').length
      proxy.resetConnections()
      await patience.until(() => {
        return events.filter(({ kind }) => kind === 'reset').length === resets + 1
      }, 'it is told that it may have missed something')
    }
    await store.apply(acquire('after', { key: 'after' }))
    await patience.until(() => isTold('after'), 'events go on')
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1))
  })

  it('fails at once what was sent and cannot be sent twice', async () => {
    const { engine, proxy, store } = await openScene()
    await engine.apply(acquire('a'))
    await engine.apply(acquire('a', { requestId: '2' }))
    proxy.set({ toClient: { kind: 'black-hole' } })
    const release = failureOf(engine.apply({ kind: 'release', key: 'k', owner: 'a' }))
    await patience.until(
      async () => (await store.read({ kind: 'inspect', key: 'k' })).holders[0]?.writes === 1,
      'it was done',
    )
    proxy.set({})
    proxy.resetConnections()
    expect(await release).toEqual({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
    const { holders } = await engine.read({ kind: 'inspect', key: 'k' })
    expect(holders[0]?.writes).toBe(1)
  })
})

describe('a server that is gone', () => {
  it('for too long fails calls, and says which may have been applied', async () => {
    const { engine, proxy } = await openScene({ retryForMs: 3_000 })
    await engine.apply(acquire('holder'))
    proxy.set({ toServer: { kind: 'black-hole' } })
    const sent = failureOf(engine.apply({ kind: 'release', key: 'k', owner: 'holder' }))
    await patience.until(() => proxy.counters.toServer.bytesDropped > 0, 'it went nowhere')
    await proxy.close()
    const unsent = failureOf(engine.apply(acquire('b')))
    const read = failureOf(engine.read({ kind: 'stats' }))
    expect(await sent).toEqual({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
    expect(await unsent).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE' })
    expect(await read).toEqual({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'no' })
  })

  it('from the beginning is an error of connecting', async () => {
    const opening = SessionEngine.open('http://127.0.0.1:1', { retryForMs: 200 })
    expect(await failureOf(opening)).toEqual({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'no' })
  })

  it('and comes back without memory gets the waits again, and a watch is told to look anew', async () => {
    const { store, server, engine, proxy } = await openScene()
    const events: string[] = []
    await engine.watch({}, (event) => events.push(event.kind))
    await engine.apply(acquire('holder'))
    const wait = new OpenWait('1', engine.apply(acquire('a', { waitMs: forever })), patience)
    await patience.until(() => events.includes('queued'), 'it waits')
    const { port } = server.address
    await server.close()
    await store.apply({ kind: 'cancel', key: 'k', owner: 'a', requestId: 'another' })
    const next = await LockServer.open({ engine: store, port })
    onTestFinished(() => next.close())
    await patience.until(() => events.includes('reset'), 'the watch is told')
    await engine.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await wait.answer()).toMatchObject({ kind: 'granted' })
    expect(proxy.counters.connectionsAccepted).toBeGreaterThan(1)
  })

  it('and comes back with too little room takes a watch when there is some', async () => {
    const { store, server, engine } = await openScene()
    const told: string[][] = [[], []]
    const watches = await Promise.all(
      told.map((kinds) => engine.watch({}, ({ kind }) => kinds.push(kind))),
    )
    const { port } = server.address
    await server.close()
    const next = await LockServer.open({ engine: store, port, limits: { streams: 1 } })
    onTestFinished(() => next.close())
    const isTold = (): boolean[] => told.map((kinds) => kinds.includes('reset'))
    await patience.until(async () => {
      const metrics = await (await fetch(`${next.url}/metrics`)).text()
      const wasRefused = /^holdfast_refusals_total\{kind="session",reason="limit"\} [1-9]/m
      return wasRefused.test(metrics) && isTold().includes(true)
    }, 'one is taken and one refused')
    const taken = isTold().indexOf(true)
    expect(isTold()[1 - taken]).toBe(false)
    await watches[taken]?.close()
    await patience.until(() => isTold()[1 - taken] === true, 'the other is taken too')
    await store.apply(acquire('a'))
    await patience.until(() => told[1 - taken]?.includes('granted') === true, 'it hears of events')
  })
})

describe('an abort', () => {
  it('that crosses with the grant gives it back before it is told', async () => {
    const { engine, store } = await openScene()
    for (let round = 0; round < 50; round += 1) {
      const controller = new AbortController()
      const { signal } = controller
      const asked = acquire('a', { requestId: `r${round}`, waitMs: forever })
      const answer = engine.apply(asked, { signal })
      if (round % 2 === 0) await Promise.resolve()
      controller.abort()
      const failure = await failureOf(answer)
      expect(failure).toEqual({ code: 'LOCK_ABORTED', applied: 'no' })
      expect((await store.read({ kind: 'inspect', key: 'k' })).holders).toEqual([])
    }
  })
})

describe('calls', () => {
  it('of which there are too many are refused here, and the others answered', async () => {
    const { engine, store } = await openScene()
    await store.apply(acquire('holder'))
    const waits = Array.from({ length: OPEN_REQUESTS_MAX }, (_, index) =>
      engine.apply(acquire(`o${index}`, { key: `k${index % 8}`, waitMs: forever })),
    )
    for (const wait of waits) wait.catch(() => {})
    const granted = Promise.all(waits.slice(1, 8))
    expect(await failureOf(engine.read({ kind: 'stats' }))).toMatchObject({ code: 'LOCK_LIMIT' })
    expect((await granted).every(({ kind }) => kind === 'granted')).toBe(true)
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ holds: 9 })
  }, 60_000)

  it('are sent again in the order in which they were given', async () => {
    const { engine, proxy, store } = await openScene()
    await store.apply(acquire('holder'))
    // The ids of what is over are used again: the latest call has the lowest.
    const over = Array.from({ length: 5 }, () => engine.read({ kind: 'stats' }))
    await Promise.all(over)
    const answers: string[] = []
    const waits = Array.from({ length: 5 }, async (_, index) => {
      await engine.apply(acquire(`o${index}`, { waitMs: forever }))
      answers.push(`o${index}`)
      await engine.apply({ kind: 'release', key: 'k', owner: `o${index}`, requestId: 'r' })
    })
    await patience.until(
      async () => (await store.read({ kind: 'stats' })).waiters === 5,
      'they wait',
    )
    for (const index of [0, 1, 2, 3, 4]) {
      await store.apply({ kind: 'cancel', key: 'k', owner: `o${index}`, requestId: 'none' })
    }
    const { connectionsAccepted } = proxy.counters
    proxy.resetConnections()
    await patience.until(
      () => proxy.counters.connectionsAccepted > connectionsAccepted,
      'it is connected again',
    )
    await store.apply({ kind: 'release', key: 'k', owner: 'holder' })
    await Promise.all(waits)
    expect(answers).toEqual(['o0', 'o1', 'o2', 'o3', 'o4'])
  })
})

describe('a good-bye', () => {
  it('right after a grant leaves what is not held in the session to its lease', async () => {
    const { engine, store } = await openScene()
    await store.apply(acquire('holder'))
    const wait = engine.apply(acquire('job', { waitMs: forever }))
    await patience.until(async () => {
      return (await store.read({ kind: 'stats' })).waiters === 1
    }, 'it waits')
    await store.apply({ kind: 'release', key: 'k', owner: 'holder' })
    expect(await wait).toMatchObject({ kind: 'granted' })
    await engine.close()
    const { holders } = await store.read({ kind: 'inspect', key: 'k' })
    expect(holders.map(({ owner }) => owner)).toEqual(['job'])
  })
})

describe('a server that does not read', () => {
  it('is not sent more than it is ready to take, and everything in the end', async () => {
    const { engine, proxy, store } = await openScene()
    proxy.set({ toServer: { kind: 'delay', delayMs: 200 } })
    const meta = 'x'.repeat(1_000)
    const calls = Array.from({ length: 6_000 }, (_, index) =>
      engine.apply(acquire('a', { key: `k${index}`, meta })),
    )
    const outcomes = await Promise.all(calls)
    expect(outcomes.every(({ kind }) => kind === 'granted')).toBe(true)
    expect((await store.read({ kind: 'stats' })).holds).toBe(6_000)
  }, 60_000)

  it('is not asked what no server would read', async () => {
    const { engine } = await openScene()
    const key = 'x'.repeat(1_000_000)
    for (const query of [
      { kind: 'inspect', key },
      { kind: 'list', prefix: Array.from({ length: 500_000 }, () => 1) },
      { kind: 'list', prefix: () => key },
    ]) {
      const reading = engine.read(query as unknown as { kind: 'stats' })
      expect((await failureOf(reading)).code).toBe('LOCK_INVALID_ARGUMENT')
    }
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ holds: 0 })
  })

  it('of another kind is told from one that is gone', async () => {
    const other = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => other.close())
    other.on('connection', (socket) => socket.close(4406, 'this server speaks version 9'))
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const opening = SessionEngine.open(`http://127.0.0.1:${port}`, { retryForMs: 5_000 })
    await expect(opening).rejects.toThrow('version 9')
  })
})
