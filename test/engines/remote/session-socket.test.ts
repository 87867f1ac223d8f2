import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { openSessionSocket, type SocketEnd } from '../../../src/engines/remote/session-socket.ts'
import type { FrameSocket } from '../../../src/wire/session/frame-socket.ts'

interface Opened {
  readonly client: FrameSocket
  readonly frames: Buffer[]
  readonly opened: Promise<void>
  readonly closed: Promise<SocketEnd>
}

function open(port: number): Opened {
  const frames: Buffer[] = []
  let onOpen = (): void => {}
  let onClosed: (end: SocketEnd) => void = () => {}
  const opened = new Promise<void>((resolve) => {
    onOpen = resolve
  })
  const closed = new Promise<SocketEnd>((resolve) => {
    onClosed = resolve
  })
  const client = openSessionSocket(
    { url: new URL(`http://127.0.0.1:${port}`), token: undefined },
    { onOpen, onFrame: (frame) => frames.push(Buffer.from(frame)), onClosed },
  )
  onTestFinished(() => client.terminate())
  return { client, frames, opened, closed }
}

/** A server of another make. */
async function serve(): Promise<{ port: number; accepted: Promise<WebSocket> }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const one of server.clients) one.terminate()
    server.close()
  })
  const accepted = once(server, 'connection').then(([socket]) => socket as WebSocket)
  return { port: (server.address() as AddressInfo).port, accepted }
}

/** A server that answers an upgrade as it is told. */
async function answerUpgrades(answer: (socket: Duplex) => void): Promise<number> {
  const server = createServer()
  server.on('upgrade', (_: IncomingMessage, socket: Duplex) => answer(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('a server', () => {
  it.each([0, 1, 125, 126, 65_535, 65_536, 3_000_000])(
    'a message of %i bytes goes both ways',
    async (size) => {
      const { port, accepted } = await serve()
      const { client, frames, opened } = open(port)
      const server = await accepted
      await opened
      const heard = once(server, 'message')
      client.send(Buffer.alloc(size, 7))
      const [received, isBinary] = (await heard) as [Buffer, boolean]
      expect(isBinary).toBe(true)
      expect(received.equals(Buffer.alloc(size, 7))).toBe(true)
      server.send(received)
      await expect.poll(() => frames.length).toBe(1)
      expect(frames[0]?.equals(received)).toBe(true)
    },
  )

  it('a ping is answered', async () => {
    const { port, accepted } = await serve()
    open(port)
    const server = await accepted
    server.ping('x')
    const [payload] = (await once(server, 'pong')) as [Buffer]
    expect(payload.toString()).toBe('x')
  })

  it('its close is answered, and its code and reason are told', async () => {
    const { port, accepted } = await serve()
    const { closed } = open(port)
    const server = await accepted
    server.close(4503, 'come back')
    expect(await closed).toMatchObject({ code: 4503, reason: 'come back', status: undefined })
    await expect.poll(() => server.readyState).toBe(server.CLOSED)
  })

  it('that is gone without a word, the end is 1006', async () => {
    const { port, accepted } = await serve()
    const { closed } = open(port)
    const server = await accepted
    server.terminate()
    expect(await closed).toMatchObject({ code: 1006, reason: '' })
  })
})

describe('what answers at the address', () => {
  it('with a status is told with it', async () => {
    const port = await answerUpgrades((socket) => {
      socket.end('HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    })
    expect(await open(port).closed).toMatchObject({ code: 1006, status: 401 })
  })

  it('without knowing what a WebSocket is, is not talked to', async () => {
    const port = await answerUpgrades((socket) => {
      socket.write('HTTP/1.1 101 Go on\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n')
    })
    const { cause } = await open(port).closed
    expect(String(cause)).toContain('Sec-WebSocket-Accept')
  })

  it('with bytes that are no frames is cut off', async () => {
    const { port, accepted } = await serve()
    const { closed, frames } = open(port)
    const server = await accepted
    const behind = server as unknown as { _socket: Duplex }
    // Masked, as only a client's frames are.
    behind._socket.write(Buffer.from('8281000000000000', 'hex'))
    expect(await closed).toMatchObject({ code: 1006 })
    expect(frames).toEqual([])
  })

  it('with nothing, because no process listens, has a cause', async () => {
    const { cause } = await open(1).closed
    expect(cause).toMatchObject({ code: 'ECONNREFUSED' })
  })
})

it('one that is cut before it is open ends once', async () => {
  const { port } = await serve()
  const { client, closed } = open(port)
  client.terminate()
  client.terminate()
  expect(await closed).toMatchObject({ code: 1006 })
})
