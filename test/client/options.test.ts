import { describe, expect, it } from 'vitest'
import { LockClient } from '../../src/client/lock-client.ts'
import { sendJson, type StubExchange, StubServer } from './stub-server.ts'

const PULL = { type: 'pull', resourceId: 'layer' }
const QUEUED = { acquired: false, skip: false, queued: true, position: 1 }
const WAITING = { acquired: false, completed: false, success: false }
const GRANTED = { acquired: true, skip: false, token: 7 }

/** A timer of Node may fire a fraction of a millisecond early. */
const EARLY_MS = 1

function shortestGap(times: readonly number[]): number {
  return Math.min(...times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0)))
}

/** Waits for a lock until the server was asked for something so many times, and gives up. */
async function lockUntilAsked(
  client: LockClient,
  stub: StubServer,
  { path, times }: { readonly path: string; readonly times: number },
): Promise<void> {
  const abort = new AbortController()
  const locking = client.lock(PULL, { signal: abort.signal })
  while (stub.timesOf(path).length < times) await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  await expect(locking).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
}

describe('the options of a lock client', () => {
  it.each([0, 1, 4])('say how often it tries again: maxRetries %i', async (maxRetries) => {
    await using stub = await StubServer.listen(({ request }) => request.socket.destroy())
    for (const waitBy of ['events', 'polling'] as const) {
      const options = { server: stub.url, nodeId: 'n', retryInterval: 1, maxRetries, waitBy }
      await using client = new LockClient(options)
      const { error } = await client.lock(PULL)
      expect(error?.code).toBe('LOCK_ENGINE_UNAVAILABLE')
      const path = waitBy === 'events' ? '/lock/subscribe' : '/lock'
      expect(stub.timesOf(path)).toHaveLength(maxRetries + 1)
    }
  })

  it('say how long it pauses before that: retryInterval', async () => {
    await using stub = await StubServer.listen(({ response }) => sendJson(response, 503, {}))
    for (const waitBy of ['events', 'polling'] as const) {
      const options = { server: stub.url, nodeId: 'n', retryInterval: '150ms', waitBy } as const
      await using client = new LockClient(options)
      await client.lock(PULL)
      const times = stub.timesOf(waitBy === 'events' ? '/lock/subscribe' : '/lock')
      expect(shortestGap(times)).toBeGreaterThanOrEqual(150 - EARLY_MS)
    }
  })

  it('hold for streams that are closed as soon as they are open: retryInterval', async () => {
    await using stub = await StubServer.listen(({ path, response }) => {
      if (path !== '/lock/subscribe') return sendJson(response, 200, QUEUED)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
    })
    const options = { server: stub.url, nodeId: 'n', retryInterval: '150ms' } as const
    await using client = new LockClient(options)
    await lockUntilAsked(client, stub, { path: '/lock/subscribe', times: 4 })
    const times = stub.timesOf('/lock/subscribe')
    expect(shortestGap(times)).toBeGreaterThanOrEqual(150 - EARLY_MS)
  })

  it('do not make it miss the grace of its session: a long retryInterval', async () => {
    await using stub = await StubServer.listen(({ path, response }) => {
      if (path !== '/lock/subscribe') return sendJson(response, 200, QUEUED)
      const headers = { 'content-type': 'text/event-stream', 'session-grace-ms': '500' }
      response.writeHead(200, headers).end()
    })
    const options = { server: stub.url, nodeId: 'n', retryInterval: '1h' } as const
    await using client = new LockClient(options)
    await lockUntilAsked(client, stub, { path: '/lock/subscribe', times: 2 })
  })

  it('say how often it asks while it waits: pollInterval', async () => {
    await using stub = await StubServer.listen(({ path, response }) => {
      sendJson(response, 200, path === '/lock/status' ? WAITING : QUEUED)
    })
    const options = { server: stub.url, nodeId: 'n', waitBy: 'polling' } as const
    await using client = new LockClient({ ...options, pollInterval: '100ms' })
    await lockUntilAsked(client, stub, { path: '/lock/status', times: 4 })
    const times = stub.timesOf('/lock/status')
    expect(shortestGap(times)).toBeGreaterThanOrEqual(100 - EARLY_MS)
  })

  it('bound the answers and not the wait: requestTimeout', async () => {
    const requestTimeoutMs = 300
    await using stub = await StubServer.listen(streamUntil(3 * requestTimeoutMs))
    const options = { server: stub.url, nodeId: 'n', requestTimeout: requestTimeoutMs }
    await using client = new LockClient({ ...options, retryInterval: 1 })
    expect(await client.lock(PULL)).toMatchObject({ acquired: true, token: 7 })
    expect(stub.timesOf('/lock/subscribe')).toHaveLength(1)
  })

  it('may name a server under a path', async () => {
    await using stub = await StubServer.listen(({ response }) => sendJson(response, 200, GRANTED))
    const server = `${stub.url}/team/locks`
    await using client = new LockClient({ server, nodeId: 'n', waitBy: 'polling' })
    await client.lock(PULL)
    await client.refs('layer')
    expect(stub.asked.map(({ path }) => path)).toEqual(['/team/locks/lock', '/team/locks/refs'])
  })
})

describe('the stream of a lock client', () => {
  it('is opened anew when a line of it has no end', async () => {
    let streams = 0
    await using stub = await StubServer.listen(({ path, response }) => {
      if (path !== '/lock/subscribe') return sendJson(response, 200, streams < 2 ? QUEUED : GRANTED)
      streams += 1
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (streams > 1) return response.write(': hello\n\n')
      response.write('x'.repeat(2 * 1024 * 1024))
      // It is not for being silent that it is given up.
      const more = setInterval(() => response.write('x'), 500)
      response.on('close', () => clearInterval(more))
    })
    await using client = new LockClient({ server: stub.url, nodeId: 'n' })
    expect(await client.lock(PULL)).toMatchObject({ acquired: true, token: 7 })
    expect(streams).toBe(2)
  })
})

/** A server whose stream says nothing but comments for a while, and then that there is news: a grant. */
function streamUntil(grantAfterMs: number): (exchange: StubExchange) => void {
  let isGranted = false
  return ({ path, response }) => {
    if (path !== '/lock/subscribe') {
      return sendJson(response, 200, isGranted ? GRANTED : QUEUED)
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': hello\n\n')
    const timer = setTimeout(() => {
      isGranted = true
      response.write('data: {}\n\n')
    }, grantAfterMs)
    response.on('close', () => clearTimeout(timer))
  }
}
