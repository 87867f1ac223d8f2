import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { LockEngine, WatchEvent } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { HttpEngine, type HttpEngineOptions } from '../../../src/engines/remote/http-engine.ts'
import { connect } from '../../../src/locks/connect.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { FaultProxy } from '../../../src/testing/fault-proxy.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { tokensFor } from '../../server/served.ts'

const cleanUps: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

interface Behind {
  readonly engine: LockEngine
  readonly server: LockServer
  readonly proxy: FaultProxy
  readonly url: string
}

/** A server with a proxy before it. */
async function start(port?: number): Promise<Behind> {
  const engine = openMemoryEngine()
  const server = await LockServer.open({ engine, port })
  const proxy = await FaultProxy.listen({ target: { port: server.address.port } })
  cleanUps.push(
    () => engine.close(),
    () => server.close(),
    () => proxy.close(),
  )
  return { engine, server, proxy, url: `http://${proxy.host}:${proxy.port}` }
}

async function openEngine(url: string, options: HttpEngineOptions = {}): Promise<HttpEngine> {
  const engine = await HttpEngine.open(url, options)
  cleanUps.push(() => engine.close())
  return engine
}

/** A server that answers as a test says. */
async function stub(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server: Server = createServer((request, response) => {
    request.resume()
    request.on('end', () => answer(request, response))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  cleanUps.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const CAPABILITIES = { name: 'stub', durable: false }
const UNREF = { kind: 'unref', node: 'n' } as const
const UNREFERENCED = { outcome: 'unreferenced', removed: 0, count: 0 }

describe('a server that is not there', () => {
  it('is an error after which nothing was done', async () => {
    const { server, url } = await start()
    await server.close()
    await expect(HttpEngine.open(url, { retryForMs: 50 })).rejects.toMatchObject({
      code: 'LOCK_ENGINE_UNAVAILABLE',
      applied: 'no',
      retryable: true,
    })
  })

  it('is an error after which something may have been done if a request was sent', async () => {
    const { proxy, url } = await start()
    const engine = await openEngine(url, { retryForMs: 100 })
    proxy.set({ toClient: { kind: 'cut', afterBytes: 0 } })
    await expect(engine.apply(UNREF)).rejects.toMatchObject({
      code: 'LOCK_ENGINE_UNAVAILABLE',
      applied: 'maybe',
    })
    await expect(engine.read({ kind: 'stats' })).rejects.toMatchObject({ applied: 'no' })
    expect(proxy.counters.connectionsCut).toBeGreaterThan(0)
    proxy.set({})
    expect((await engine.apply(UNREF)).kind).toBe('unreferenced')
  })
})

describe('a command', () => {
  it('is sent again with the same key when the server says to come back', async () => {
    const keys: unknown[] = []
    const url = await stub((request, response) => {
      if (request.url === '/v1/capabilities') return send(response, 200, CAPABILITIES)
      keys.push(request.headers['idempotency-key'])
      if (keys.length > 2) return send(response, 200, UNREFERENCED)
      send(response, 503, { code: 'unavailable', retryable: true, applied: 'no', error: 'later' })
    })
    const engine = await openEngine(url)
    expect((await engine.apply(UNREF)).kind).toBe('unreferenced')
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  it('fails as the server says when trying again cannot help', async () => {
    const url = await stub((request, response) => {
      if (request.url === '/v1/capabilities') return send(response, 200, CAPABILITIES)
      const cause = 'LOCK_STORAGE_FAILED'
      send(response, 503, { code: 'unavailable', cause, retryable: false, applied: 'maybe' })
    })
    const engine = await openEngine(url)
    await expect(engine.apply(UNREF)).rejects.toMatchObject({
      code: 'LOCK_STORAGE_FAILED',
      applied: 'maybe',
    })
  })

  it('does not notice that the server closed a connection it had kept', async () => {
    const requests = new Map<unknown, number>()
    const url = await stub((request, response) => {
      const count = (requests.get(request.socket) ?? 0) + 1
      requests.set(request.socket, count)
      if (count === 2) request.socket.destroy()
      else send(response, 200, request.url === '/v1/capabilities' ? CAPABILITIES : UNREFERENCED)
    })
    const engine = await openEngine(url, { retryForMs: 0 })
    expect((await engine.apply(UNREF)).kind).toBe('unreferenced')
    expect(requests.size).toBe(2)
  })

  it('is not sent before the one before it on the same key has its place', async () => {
    const { engine, url } = await start()
    const remote = await openEngine(url)
    const told: string[] = []
    await engine.watch({}, (event) => {
      if (event.kind !== 'reset') told.push(`${event.kind} ${event.owner}`)
    })
    await remote.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
    const waits = ['b', 'c', 'd'].map((owner) =>
      remote.apply({ kind: 'acquire', key: 'k', owner, requestId: '1', waitMs: Infinity }),
    )
    await Promise.all(
      ['a', 'b', 'c'].map((owner) => remote.apply({ kind: 'release', key: 'k', owner })),
    )
    await Promise.all(waits)
    expect(told).toEqual([
      'granted a',
      'queued b',
      'queued c',
      'queued d',
      'released a',
      'granted b',
      'released b',
      'granted c',
      'released c',
      'granted d',
    ])
  })
})

describe('a connection that swallows everything', () => {
  it('is given up after a while of silence', async () => {
    const { proxy, url } = await start()
    const clock = new VirtualClock()
    const engine = await openEngine(url, { clock, retryForMs: 60_000 })
    proxy.set({ toServer: { kind: 'black-hole' } })
    let isAnswered = false
    const answer = engine.apply(UNREF).finally(() => {
      isAnswered = true
    })
    await expect.poll(() => proxy.counters.toServer.bytesDropped).toBeGreaterThan(0)
    proxy.set({})
    await clock.advance(9_999)
    expect(isAnswered).toBe(false)
    await expect
      .poll(async () => {
        await clock.advance(1)
        return isAnswered
      })
      .toBe(true)
    expect((await answer).kind).toBe('unreferenced')
  })
})

describe('a watch', () => {
  it('misses nothing when its connection breaks', async () => {
    const { engine, proxy, url } = await start()
    const remote = await openEngine(url)
    const owners: unknown[] = []
    const heard = (event: WatchEvent): void => {
      owners.push(event.kind === 'reset' ? 'reset' : event.owner)
    }
    const watching = await remote.watch({ namespace: 'lock' }, heard)
    for (let round = 0; round < 20; round += 1) {
      if (round % 3 === 0) proxy.resetConnections()
      const owner = `owner-${round}`
      await engine.apply({ kind: 'acquire', key: `key-${round}`, owner, requestId: '1' })
    }
    await expect.poll(() => owners.length).toBe(20)
    expect(owners).toEqual(Array.from({ length: 20 }, (_, round) => `owner-${round}`))
    expect(proxy.counters.connectionsReset).toBeGreaterThan(0)
    await watching.close()
  })

  it('is told when another life of the server knows nothing of what it heard', async () => {
    const first = await start()
    const remote = await openEngine(first.server.url)
    const kinds: string[] = []
    await remote.watch({}, ({ kind }) => void kinds.push(kind))
    const { port } = first.server.address
    await first.server.close()
    const second = await start(port)
    await expect.poll(() => kinds).toEqual(['reset'])
    await second.engine.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
    await expect.poll(() => kinds).toEqual(['reset', 'granted'])
  })

  it('that the server refuses says why, and is asked for once', async () => {
    let asked = 0
    const url = await stub((request, response) => {
      if (request.url === '/v1/capabilities') return send(response, 200, CAPABILITIES)
      asked += 1
      send(response, 403, { code: 'forbidden', error: 'not yours to see' })
    })
    const remote = await openEngine(url)
    await expect(remote.watch({}, () => {})).rejects.toMatchObject({
      code: 'LOCK_FORBIDDEN',
      message: 'not yours to see',
    })
    expect(asked).toBe(1)
  })
})

it('a limit of the server is told in the names of the code', async () => {
  const behind = openMemoryEngine()
  const server = await LockServer.open({ engine: behind, limits: { ttl: 5_000 } })
  cleanUps.push(
    () => behind.close(),
    () => server.close(),
  )
  const engine = await openEngine(server.url)
  const asked = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1', ttlMs: 5_001 } as const
  await expect(engine.apply(asked)).rejects.toMatchObject({
    code: 'LOCK_INVALID_ARGUMENT',
    message: 'ttlMs must be from 100 to 5000',
    details: { field: 'ttlMs' },
  })
})

describe('connect', () => {
  it('speaks plain HTTP to a server when it is told to', async () => {
    const { server } = await start()
    const url = `${server.url}?transport=http`
    const [one, other] = await Promise.all([connect(url), connect(url)])
    const token = await one.withLock('k', async (lock) => {
      expect(await other.tryAcquire('k')).toBeNull()
      return lock.token
    })
    expect(token).toBe(1)
    await one.close()
    await other.close()
  })

  it('sends its token, and says nothing of it when it is refused', async () => {
    const engine = openMemoryEngine()
    const server = await LockServer.open({ engine, tokens: tokensFor({ name: 'alice' }) })
    cleanUps.push(
      () => engine.close(),
      () => server.close(),
    )
    const url = `${server.url}?transport=http`
    const locks = await connect(url, { token: 'alice-token' })
    await locks.withLock('k', async () => {})
    await locks.close()
    const error: unknown = await connect(url, { token: 'wrong-token' }).catch((e: unknown) => e)
    expect(error).toMatchObject({ code: 'LOCK_FORBIDDEN' })
    expect(String(error) + JSON.stringify(error)).not.toContain('wrong-token')
  })

  it('refuses a transport that it does not know', async () => {
    await expect(connect('http://127.0.0.1:1?transport=smoke')).rejects.toMatchObject({
      code: 'LOCK_INVALID_ARGUMENT',
    })
    await expect(connect('http://')).rejects.toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })
})
