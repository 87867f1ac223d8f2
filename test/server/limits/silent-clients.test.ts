import { once } from 'node:events'
import tls from 'node:tls'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Served, serve, tokensFor } from '../served.ts'
import { makeCertificate } from '../tls/make-certificate.ts'
import { SilentSockets } from './silent-sockets.ts'

/** Every deadline is short, so that none has to be waited for. */
const PATIENCE = {
  headersMs: 400,
  requestMs: 600,
  checkMs: 50,
  keepAliveMs: 500,
  lingerMs: 200,
  unsentMs: 500,
}

const CLIENTS = 5
/** The longest deadline here is that of a WebSocket whose client sends no hello: 5 s. */
const GONE_MS = 12_000
const HOST = 'host: localhost\r\n'
const UPGRADE =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n'

let served: Served
let registry: Registry
let sockets: SilentSockets

beforeEach(() => {
  registry = new Registry()
})

afterEach(async () => {
  sockets.cut()
  await served.close()
})

async function open(options: Parameters<typeof serve>[0] = {}): Promise<void> {
  served = await serve({ patience: PATIENCE, registry, ...options })
  sockets = new SilentSockets(served.server.address.port)
}

/** Connections are accepted in their order, so every silent one has been accepted before this is answered. */
async function expectNoneLeft(): Promise<void> {
  await served.call('/healthz', { headers: { connection: 'close' } }).catch(() => {})
  await expect.poll(countConnections, { timeout: GONE_MS }).toBe(0)
}

/** Asking for it does not open a connection. */
async function countConnections(): Promise<number> {
  const gauge = await registry.getSingleMetric('holdfast_http_connections')?.get()
  return gauge?.values[0]?.value ?? 0
}

describe('the server takes its connection back from a client that never closes', () => {
  it.each([
    ['says nothing', ''],
    ['sends half a head', `GET /v1/locks HTTP/1.1\r\n${HOST}`],
    ['sends half a body', `POST /v1/acquire HTTP/1.1\r\n${HOST}content-length: 9\r\n\r\n{`],
    [
      'sends half a body that is not read',
      `POST /nothing HTTP/1.1\r\n${HOST}content-length: 9\r\n\r\n{`,
    ],
    [
      'announces a body that is too long',
      `POST /lock HTTP/1.1\r\n${HOST}content-length: 99999999\r\n\r\n{`,
    ],
    [
      'sends half a chunk',
      `POST /lock HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n9\r\n{`,
    ],
    ['speaks no HTTP', 'hello\r\n\r\n'],
    ['sends a head that is too long', `GET / HTTP/1.1\r\n${HOST}x: ${'x'.repeat(20_000)}\r\n\r\n`],
    [
      'waits for 100 Continue',
      `POST /lock HTTP/1.1\r\n${HOST}expect: 100-continue\r\ncontent-length: 9\r\n\r\n`,
    ],
    ['has been answered', `GET /healthz HTTP/1.1\r\n${HOST}\r\n`],
    ['was told that the connection closes', `GET / HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`],
    ['asks for a tunnel', `CONNECT localhost:1 HTTP/1.1\r\n${HOST}\r\n`],
    ['sends half an upgrade', `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}`],
    ['was refused an upgrade', `GET /nothing HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`],
    [
      'makes a mistake in an upgrade',
      `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE.replace('13', '12')}\r\n`,
    ],
    [
      'sends bytes that are no frame',
      `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n\u00ff\u00ff`,
    ],
  ])('and %s', async (_, bytes) => {
    await open()
    await sockets.openMany(CLIENTS, bytes)
    await expectNoneLeft()
  })

  it('and says nothing, or sends half a frame, in a WebSocket', async () => {
    await open()
    const upgrade = `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`
    await sockets.openMany(CLIENTS, upgrade)
    await sockets.openMany(CLIENTS, `${upgrade}\u0082\u00fe`)
    await expectNoneLeft()
  })

  it('and does not read its answers', async () => {
    await open({ tokens: tokensFor({ name: 'alice' }) })
    const request = `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`
    await sockets.openMany(CLIENTS, request.repeat(200))
    await expectNoneLeft()
  })

  it('and was not let in', async () => {
    await open({ tokens: tokensFor({ name: 'alice' }) })
    await sockets.openMany(CLIENTS, `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`)
    await sockets.openMany(CLIENTS, `POST /lock HTTP/1.1\r\n${HOST}content-length: 9\r\n\r\n{`)
    await expectNoneLeft()
  })

  it('and was above the limit on connections', async () => {
    await open({ limits: { connections: 1 } })
    await sockets.openMany(CLIENTS, `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`)
    await sockets.openMany(CLIENTS, `GET /healthz HTTP/1.1\r\n${HOST}\r\n`)
    await expectNoneLeft()
  })
})

describe('with TLS the server takes its connection back from a client that never closes', () => {
  it.each([
    ['says nothing', ''],
    ['begins a handshake', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001'],
  ])('and %s', async (_, bytes) => {
    await open({ tls: makeCertificate({ name: 'ours' }) })
    await sockets.openMany(CLIENTS, bytes)
    await expect.poll(countConnections).toBe(CLIENTS)
    await expect.poll(countConnections, { timeout: GONE_MS }).toBe(0)
  })

  it.each([
    ['says nothing more', ''],
    ['sends half a head', `GET /v1/locks HTTP/1.1\r\n${HOST}`],
    ['speaks no HTTP', 'hello\r\n\r\n'],
    ['was refused an upgrade', `GET /nothing HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`],
  ])('after its handshake, and %s', async (_, bytes) => {
    await open({ tls: makeCertificate({ name: 'ours' }) })
    for (let opened = 0; opened < CLIENTS; opened += 1) {
      const socket = await sockets.open()
      const secure = tls.connect({ socket, rejectUnauthorized: false })
      secure.on('error', () => {})
      await once(secure, 'secureConnect')
      secure.write(bytes)
    }
    await expect.poll(countConnections, { timeout: GONE_MS }).toBe(0)
  })
})
