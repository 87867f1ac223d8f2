import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FaultProxy } from '../../src/testing/fault-proxy.ts'
import { Random } from '../../src/testing/random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { LineClient, LineServer } from './line-server.ts'

let clock: VirtualClock
let server: LineServer
let proxy: FaultProxy
const clients: LineClient[] = []

beforeEach(async () => {
  clock = new VirtualClock()
  server = await LineServer.listen()
  proxy = await FaultProxy.listen({
    target: { port: server.port },
    clock,
    random: new Random('jitter'),
  })
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy()
  await proxy.close()
  await server.close()
})

function open(): LineClient {
  const client = new LineClient(proxy.port)
  clients.push(client)
  return client
}

/** Tries again until the expectation holds; a limit far above what it takes is the only time in it. */
function eventually(expectation: () => void): Promise<void> {
  return vi.waitFor(expectation, { timeout: 45_000, interval: 5 })
}

/** A client whose first line has been answered. */
async function openUsed(): Promise<LineClient> {
  const client = open()
  client.send('hello\n')
  await eventually(() => expect(client.received).toBe('HELLO\n'))
  return client
}

describe('a harmless proxy', () => {
  it('passes bytes both ways and counts them', async () => {
    await openUsed()
    expect(proxy.connections).toBe(1)
    expect(proxy.counters).toEqual({
      connectionsAccepted: 1,
      connectFailures: 0,
      connectionsCut: 0,
      connectionsReset: 0,
      answersSwallowed: 0,
      toServer: { bytesForwarded: 6, bytesDropped: 0, piecesDelayed: 0 },
      toClient: { bytesForwarded: 6, bytesDropped: 0, piecesDelayed: 0 },
    })
  })

  it('passes more than fits into the buffers', async () => {
    const client = open()
    const line = 'x'.repeat(3_000_000)
    client.send(`${line}\n`)
    await eventually(() => expect(client.received).toHaveLength(line.length + 1))
    expect(server.lines).toEqual([line])
  })

  it('passes the end of each side on its own', async () => {
    const client = open()
    client.socket.end('last\n')
    await eventually(() => expect([client.received, client.closed]).toEqual(['LAST\n', true]))
    await eventually(() => expect(proxy.connections).toBe(0))
    expect(client.error).toBeNull()
    expect(proxy.counters.connectionsReset).toBe(0)
  })

  it('passes a reset', async () => {
    const client = await openUsed()
    for (const socket of server.sockets) socket.resetAndDestroy()
    await eventually(() => expect(client.error).toBe('ECONNRESET'))
    await eventually(() => expect(proxy.connections).toBe(0))
  })

  it('resets clients of a server that is gone', async () => {
    await server.close()
    const client = open()
    await eventually(() => expect(client.error).toBe('ECONNRESET'))
    expect(proxy.counters.connectFailures).toBe(1)
    server = await LineServer.listen()
  })
})

describe('a delay', () => {
  it('holds bytes back for its time, in order, in one direction', async () => {
    const client = await openUsed()
    proxy.set({ toServer: { kind: 'delay', delayMs: 100 } })
    client.send('one\n')
    await eventually(() => expect(proxy.counters.toServer.piecesDelayed).toBe(1))
    await clock.advance(60)
    client.send('two\n')
    await eventually(() => expect(proxy.counters.toServer.piecesDelayed).toBe(2))
    await clock.advance(39)
    expect(proxy.counters.toServer.bytesForwarded).toBe(6)
    await clock.advance(1)
    expect(proxy.counters.toServer.bytesForwarded).toBe(10)
    await clock.advance(60)
    await eventually(() => expect(client.received).toBe('HELLO\nONE\nTWO\n'))
    expect(proxy.counters.toClient.piecesDelayed).toBe(0)
  })

  it('draws its jitter from the seed and never reorders', async () => {
    const client = await openUsed()
    proxy.set({ toServer: { kind: 'delay', delayMs: 10, jitterMs: 500 } })
    for (let i = 1; i <= 8; i++) {
      client.send(`${i}\n`)
      await eventually(() => expect(proxy.counters.toServer.piecesDelayed).toBe(i))
    }
    await clock.advance(9)
    expect(proxy.counters.toServer.bytesForwarded).toBe(6)
    await clock.advance(501)
    await eventually(() =>
      expect(server.lines).toEqual(['hello', '1', '2', '3', '4', '5', '6', '7', '8']),
    )
  })

  it('keeps what comes after it behind what is delayed', async () => {
    const client = await openUsed()
    proxy.set({ toServer: { kind: 'delay', delayMs: 100 } })
    client.send('slow\n')
    await eventually(() => expect(proxy.counters.toServer.piecesDelayed).toBe(1))
    proxy.set({})
    client.socket.end('fast\n')
    await clock.advance(100)
    await eventually(() => expect(server.lines).toEqual(['hello', 'slow', 'fast']))
    await eventually(() => expect(client.closed).toBe(true))
  })
})

describe('a cut', () => {
  it('lets exactly so many bytes arrive and closes both sides', async () => {
    const client = await openUsed()
    proxy.set({ toClient: { kind: 'cut', afterBytes: 4 } })
    client.send('abcdefgh\n')
    await eventually(() => expect(client.ended).toBe(true))
    expect(client.received).toBe('HELLO\nABCD')
    await eventually(() => expect([proxy.connections, server.sockets.size]).toEqual([0, 0]))
    expect(proxy.counters).toMatchObject({ connectionsCut: 1, toClient: { bytesDropped: 5 } })
  })

  it('counts over several pieces, and for each connection', async () => {
    proxy.set({ toServer: { kind: 'cut', afterBytes: 5 } })
    for (const cuts of [1, 2]) {
      const client = open()
      client.send('ab\n')
      await eventually(() => expect(client.received).toBe('AB\n'))
      client.send('cd\n')
      await eventually(() => expect(client.closed || client.ended).toBe(true))
      expect(proxy.counters.connectionsCut).toBe(cuts)
    }
    expect(server.lines).toEqual(['ab', 'ab'])
  })
})

describe('a reset', () => {
  it('kills the connection with the next byte, which does not arrive', async () => {
    const client = await openUsed()
    proxy.set({ toServer: { kind: 'reset' } })
    client.send('lost\n')
    await eventually(() => expect(client.error).toBe('ECONNRESET'))
    expect(server.lines).toEqual(['hello'])
    expect(proxy.counters).toMatchObject({ connectionsReset: 1, toServer: { bytesDropped: 5 } })
  })

  it('kills all present connections at once when told, and welcomes new ones', async () => {
    const victims = [await openUsed(), await openUsed()]
    proxy.resetConnections()
    for (const client of victims) {
      await eventually(() => expect(client.error).toBe('ECONNRESET'))
    }
    expect(proxy.counters.connectionsReset).toBe(2)
    await eventually(() => expect(proxy.connections).toBe(0))
    await openUsed()
  })
})

describe('a black hole', () => {
  it('accepts what the client sends and gives it to nobody', async () => {
    const client = await openUsed()
    proxy.set({ toServer: { kind: 'black-hole' } })
    client.send('lost\n')
    await eventually(() => expect(proxy.counters.toServer.bytesDropped).toBe(5))
    for (const socket of server.sockets) socket.write('NEWS\n')
    await eventually(() => expect(client.received).toBe('HELLO\nNEWS\n'))
    expect(server.lines).toEqual(['hello'])
    expect(client.closed).toBe(false)
  })

  it('keeps the answer of a request that was processed, and the connection stays open', async () => {
    const client = await openUsed()
    proxy.set({ toClient: { kind: 'black-hole' } })
    client.send('ask\n')
    await eventually(() => expect(proxy.counters.toClient.bytesDropped).toBe(4))
    expect(server.lines).toEqual(['hello', 'ask'])
    expect([client.received, client.closed]).toEqual(['HELLO\n', false])
  })

  it('hides the end and the death of the other side', async () => {
    const client = await openUsed()
    proxy.set({ toClient: { kind: 'black-hole' } })
    for (const socket of server.sockets) socket.resetAndDestroy()
    await eventually(() => expect(server.sockets.size).toBe(0))
    client.send('anybody there?\n')
    await eventually(() => expect(proxy.counters.toServer.bytesDropped).toBeGreaterThan(0))
    expect([client.ended, client.closed, client.error]).toEqual([false, false, null])
    expect(proxy.connections).toBe(1)
  })

  it('never carries on after a gap, not even when it is gone', async () => {
    const client = await openUsed()
    proxy.set({ toServer: { kind: 'black-hole' } })
    client.send('lost\n')
    await eventually(() => expect(proxy.counters.toServer.bytesDropped).toBe(5))
    proxy.set({})
    client.send('too late\n')
    await eventually(() => expect(proxy.counters.toServer.bytesDropped).toBe(14))
    await openUsed()
    expect(server.lines).toEqual(['hello', 'hello'])
  })
})

describe('a swallowed answer', () => {
  it('belongs to a request that was processed, and the client sees a reset', async () => {
    const client = await openUsed()
    proxy.set({ toClient: { kind: 'swallow' } })
    client.send('work\n')
    await eventually(() => expect(client.error).toBe('ECONNRESET'))
    expect(server.lines).toEqual(['hello', 'work'])
    expect(client.received).toBe('HELLO\n')
    expect(proxy.counters).toMatchObject({
      answersSwallowed: 1,
      connectionsReset: 1,
      toClient: { bytesDropped: 5 },
    })
  })

  it('happens as often as was asked for, then everything passes', async () => {
    proxy.set({ toClient: { kind: 'swallow', answers: 2 } })
    for (let i = 0; i < 2; i++) {
      const client = open()
      client.send('work\n')
      await eventually(() => expect(client.error).toBe('ECONNRESET'))
    }
    await openUsed()
    expect(proxy.counters.answersSwallowed).toBe(2)
    expect(server.lines).toEqual(['work', 'work', 'hello'])
  })

  it('is not what the server says without having been asked', async () => {
    const client = await openUsed()
    proxy.set({ toClient: { kind: 'swallow' } })
    for (const socket of server.sockets) socket.write('NEWS\n')
    await eventually(() => expect(client.received).toBe('HELLO\nNEWS\n'))
    expect(proxy.counters.answersSwallowed).toBe(0)
  })

  it('is dropped as far as was asked for before the reset', async () => {
    const client = await openUsed()
    proxy.set({ toClient: { kind: 'swallow', bytes: 8 } })
    client.send('one\n')
    await eventually(() => expect(proxy.counters.toClient.bytesDropped).toBe(4))
    expect(client.closed).toBe(false)
    client.send('two\n')
    await eventually(() => expect(client.error).toBe('ECONNRESET'))
    expect(proxy.counters).toMatchObject({ answersSwallowed: 1, toClient: { bytesDropped: 8 } })
  })
})

describe('closing a proxy', () => {
  it('leaves nothing open, whatever was going on', async () => {
    const used = await openUsed()
    proxy.set({ toServer: { kind: 'delay', delayMs: 1_000 } })
    used.send('on its way\n')
    await eventually(() => expect(proxy.counters.toServer.piecesDelayed).toBe(1))
    proxy.set({ toClient: { kind: 'black-hole' } })
    const { port } = proxy
    await proxy.close()
    expect([proxy.connections, clock.pendingTimers]).toEqual([0, 0])
    await eventually(() => expect([used.closed, server.sockets.size]).toEqual([true, 0]))
    const late = new LineClient(port)
    clients.push(late)
    await eventually(() => expect(late.error).toBe('ECONNREFUSED'))
  })

  it('can be done twice', async () => {
    await proxy.close()
    await expect(proxy.close()).resolves.toBeUndefined()
  })
})
