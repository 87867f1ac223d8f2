import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import {
  CLIENT_FRAME_BYTES_MAX,
  CLOSE_CODES,
  SESSION_VERSION,
} from '../../../src/wire/session/session-limits.ts'
import { write } from '../../wire/session/heard.ts'
import { RawClient } from './raw-client.ts'
import { openSessionRig, patience } from './session-rig.ts'

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

function hello(): Buffer {
  return Buffer.from(write([SESSION_VERSION, { kind: 'hello', client: 'raw' }]))
}

async function connected(url: string): Promise<RawClient> {
  const client = new RawClient(url)
  await once(client.socket, 'open')
  return client
}

describe('any WebSocket client', () => {
  it('is answered a ping, with what was in it', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.socket.ping('are you there?')
    const [payload] = (await once(client.socket, 'pong')) as [Buffer]
    expect(payload.toString()).toBe('are you there?')
  })

  it('may say a message in several frames', async () => {
    const rig = await openSessionRig()
    const client = await connected(rig.url)
    const bytes = hello()
    client.socket.send(bytes.subarray(0, 3), { fin: false })
    client.socket.ping()
    client.socket.send(bytes.subarray(3, 3), { fin: false })
    client.socket.send(bytes.subarray(3), { fin: true })
    await client.hears('welcome')
    client.cut()
  })

  it('that offers to compress is not taken up on it', async () => {
    const rig = await openSessionRig()
    const client = new WebSocket(`${rig.url.replace('http', 'ws')}/v1/session`, {
      perMessageDeflate: true,
    })
    await once(client, 'open')
    expect(client.extensions).toBe('')
    client.terminate()
  })

  it.each([1000, 4321])('that closes with %i is answered the same', async (code) => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.socket.close(code, 'enough')
    expect(await client.closed).toMatchObject({ code })
  })

  it('that closes without a code is answered without one', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.socket.close()
    expect(await client.closed).toMatchObject({ code: 1005 })
  })

  it('is closed when it says more at once than a frame may have', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    client.socket.send(Buffer.alloc(CLIENT_FRAME_BYTES_MAX + 1))
    expect(await client.closed).toMatchObject({ code: 1009 })
  })

  it('is heard to the end of a frame of the largest size', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    // No message at all: that it was read to its end shows in the code.
    client.socket.send(Buffer.alloc(CLIENT_FRAME_BYTES_MAX, 0xc1))
    expect(await client.closed).toMatchObject({ code: CLOSE_CODES.protocol })
  })
})

describe('a handshake', () => {
  it('is answered as the RFC says, and what comes with it is read', async () => {
    const rig = await openSessionRig()
    const body = maskedFrame(hello())
    const { text, rest } = await ask(rig.server.address.port, { body })
    expect(text).toContain('HTTP/1.1 101 ')
    expect(text).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    await patience.until(() => rest().length > 0, 'it is welcomed')
  })

  it.each([
    ['with another method', { method: 'PUT' }, 405],
    ['without a key', { headers: { 'sec-websocket-key': '' } }, 400],
    ['with half a key', { headers: { 'sec-websocket-key': 'dGhl' } }, 400],
    ['of an unknown version', { headers: { 'sec-websocket-version': '7' } }, 400],
    ['of no version', { headers: { 'sec-websocket-version': '' } }, 400],
  ])('%s is refused', async (_, request, status) => {
    const rig = await openSessionRig()
    const { text } = await ask(rig.server.address.port, request)
    expect(text).toContain(`HTTP/1.1 ${status} `)
    if (status === 405) expect(text).toContain('allow: GET')
    const metrics = await (await fetch(`${rig.url}/metrics`)).text()
    expect(metrics).toContain(
      `holdfast_http_requests_total{route="GET /v1/session",status="${status}"} 1\n`,
    )
  })

  it('whose head alone is asked for is refused without a body', async () => {
    const rig = await openSessionRig()
    const { socket, text, rest } = await ask(rig.server.address.port, { method: 'HEAD' })
    if (!socket.readableEnded) await once(socket, 'end')
    expect([text.slice(0, 12), rest().length]).toEqual(['HTTP/1.1 405', 0])
  })
})

describe('bytes that are no frames', () => {
  it('are answered with a close, and nothing more is read', async () => {
    const rig = await openSessionRig()
    const client = await rig.client()
    // The client library would not say it: its socket is used behind its back.
    socketOf(client.socket).write(Buffer.from('ff00ff00', 'hex'))
    expect((await client.closed).code).toBe(1002)
  })

  it('from a client that does not close in return are followed by a cut', async () => {
    const rig = await openSessionRig()
    const { socket, rest } = await ask(rig.server.address.port, {})
    socket.write(Buffer.from('8200', 'hex'))
    await patience.until(() => rest().length > 0, 'it is told why')
    // A close frame with the code 1002.
    expect([...rest().subarray(0, 4)]).toEqual([0x88, 0x02, 0x03, 0xea])
    await patience.until(() => {
      // Only a client that writes to a socket that is not there any more hears of it.
      socket.write('more')
      return socket.closed
    }, 'the connection is cut')
  })
})

/** A short frame as a client sends it, with a mask that changes nothing. */
function maskedFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x82, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

interface Request {
  readonly method?: string
  /** In place of those of an upgrade. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

interface Asked {
  readonly socket: Socket
  readonly text: string
  /** What has come behind the answer so far. */
  readonly rest: () => Buffer
}

/** A request by hand, on a socket that stays half open for as long as the other side lets it. */
async function ask(port: number, request: Request): Promise<Asked> {
  const { method = 'GET', headers = {}, body = Buffer.alloc(0) } = request
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let received = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
  })
  const lines = Object.entries({ ...UPGRADE, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const head = `${method} /v1/session HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`
  socket.write(Buffer.concat([Buffer.from(head), body]))
  const endOfHead = (): number => received.indexOf('\r\n\r\n')
  await patience.until(() => endOfHead() > 0, 'it is answered')
  return {
    socket,
    text: received.subarray(0, endOfHead()).toString(),
    rest: () => received.subarray(endOfHead() + 4),
  }
}

function socketOf(webSocket: WebSocket): Socket {
  return (webSocket as unknown as { _socket: Socket })._socket
}
