import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { SessionEngine } from '../../../src/engines/remote/session-engine.ts'
import type { Acquire, Command } from '../../../src/law/model/commands.ts'
import { CLOSE_CODES } from '../../../src/wire/session/session-limits.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { openSessionRig, patience } from './session-rig.ts'

/** An engine that takes its time for some commands: until it is told to go on with them. */
class SlowEngine {
  readonly store: LockEngine = openMemoryEngine()
  /** What has arrived and is not done yet. */
  readonly held: (() => void)[] = []
  readonly applied: Command[] = []
  /** Whether commands from now on have to wait. */
  isSlow = false
  readonly engine: LockEngine

  constructor() {
    const { store } = this
    this.engine = {
      capabilities: store.capabilities,
      apply: async (command, options) => {
        if (this.isSlow) await new Promise<void>((resolve) => this.held.push(resolve))
        this.applied.push(command)
        return store.apply(command, options)
      },
      read: (query) => store.read(query),
      watch: (filter, listener) => store.watch(filter, listener),
      close: () => store.close(),
      [Symbol.asyncDispose]: () => store.close(),
    }
  }

  goOn(): void {
    this.isSlow = false
    for (const done of this.held.splice(0)) done()
  }
}

async function connectionsOf(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^holdfast_http_connections (\d+)$/m.exec(metrics)?.[1])
}

function acquire(key: string, fields: Partial<Acquire> = {}): Acquire {
  return { kind: 'acquire', key, owner: 'a', requestId: '1', ttlMs: 60_000, ...fields }
}

const release = (key: string): Command => ({ kind: 'release', key, owner: 'a' })

describe('a server that stops', () => {
  it('answers what it has accepted before it says good-bye', async () => {
    const slow = new SlowEngine()
    const rig = await openSessionRig({ engine: slow.engine })
    const client = await rig.client()
    client.ask(1, acquire('k'))
    await client.answer(1)
    slow.isSlow = true
    client.ask(2, release('k'))
    client.read(3, { kind: 'inspect', key: 'k' })
    await patience.until(() => slow.held.length === 1, 'the release has arrived')
    const closed = rig.server.close()
    slow.goOn()
    expect(await client.answer(2)).toMatchObject({ kind: 'released' })
    expect(await client.answer(3)).toMatchObject({ kind: 'reply' })
    expect((await client.closed).code).toBe(CLOSE_CODES.stopping)
    await closed
  })

  it('tells a client that comes while it stops to try again', async () => {
    const rig = await openSessionRig()
    const socket = connect({ port: rig.server.address.port, host: '127.0.0.1' })
    onTestFinished(() => void socket.destroy())
    socket.write('GET /v1/session HTTP/1.1\r\nhost: localhost\r\n')
    await patience.until(
      async () => (await connectionsOf(rig.url)) === 2,
      'half of the request is there',
    )
    const closed = rig.server.close()
    socket.write('connection: upgrade\r\nupgrade: websocket\r\n\r\n')
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n[^]*"retryable":true/)
    await closed
  })

  it('does not begin what arrives after that', async () => {
    const slow = new SlowEngine()
    const rig = await openSessionRig({ engine: slow.engine })
    const client = await rig.client()
    slow.isSlow = true
    client.ask(1, acquire('k'))
    await patience.until(() => slow.held.length === 1, 'the acquire has arrived')
    const closed = rig.server.close()
    client.ask(2, acquire('late'))
    client.socket.ping()
    await once(client.socket, 'pong')
    slow.goOn()
    expect((await client.closed).code).toBe(CLOSE_CODES.stopping)
    await closed
    expect(client.hasHeard('granted', 1)).toBe(true)
    expect(slow.applied.map((command) => 'key' in command && command.key)).toEqual(['k'])
  })

  it('does not wait for those who wait', async () => {
    const rig = await openSessionRig()
    await rig.engine.apply(acquire('k', { owner: 'x' }))
    const client = await rig.client()
    client.ask(1, acquire('k', { waitMs: Number.POSITIVE_INFINITY }))
    await patience.until(async () => (await rig.waiters('k')).length === 1, 'it waits')
    await rig.server.close()
    expect((await client.closed).code).toBe(CLOSE_CODES.stopping)
    expect(await rig.waiters('k')).toEqual(['a'])
  })

  it('does not wait for ever for an engine that does not answer', async () => {
    const slow = new SlowEngine()
    const rig = await openSessionRig({ engine: slow.engine })
    const client = await rig.client()
    slow.isSlow = true
    client.ask(1, release('k'))
    await patience.until(() => slow.held.length === 1, 'the release has arrived')
    await rig.server.close()
    expect((await client.closed).code).toBe(CLOSE_CODES.stopping)
    slow.goOn()
  })
})

describe('commands that cannot be told from their repetition', () => {
  it('are answered if the server had accepted them, and else said to be unclear', async () => {
    const slow = new SlowEngine()
    const options = { engine: slow.engine, sessionGraceMs: 60_000 }
    let server = await LockServer.open(options)
    const { port } = server.address
    const client = await SessionEngine.open(server.url, { heartbeatThread: false })
    onTestFinished(async () => {
      slow.goOn()
      await client.close()
      await server.close()
      await slow.store.close()
    })
    for (const requestId of ['1', '2', '3']) await client.apply(acquire('k', { requestId }))
    slow.isSlow = true
    const accepted = client.apply(release('k'))
    await patience.until(() => slow.held.length === 1, 'the release has arrived')
    const closed = server.close()
    const late = client.apply(release('k'))
    const named = client.apply({ kind: 'release', key: 'k', owner: 'a', requestId: 'r' })
    const unclear = late.catch((error: unknown) => error)
    slow.goOn()
    expect(await accepted).toMatchObject({ kind: 'released', writes: 2 })
    await closed
    expect(await unclear).toMatchObject({ applied: 'maybe' })
    server = await LockServer.open({ ...options, port })
    expect(await named).toMatchObject({ kind: 'released', writes: 1 })
  })
})
