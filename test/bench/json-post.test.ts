import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { JsonPoster, parseAnswer } from '../../bench/contestants/json-post.ts'

describe('an answer', () => {
  const text = 'HTTP/1.1 409 Conflict\r\nContent-Length: 11\r\nX: y\r\n\r\n{"held":17}'

  it('is read when all of it is there, and not before', () => {
    for (let length = 0; length < text.length; length += 1) {
      expect(parseAnswer(text.slice(0, length))).toBeNull()
    }
    expect(parseAnswer(text)).toEqual({ status: 409, body: { held: 17 } })
  })

  it('without a length is an error', () => {
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(() => parseAnswer(chunked)).toThrow('without a length')
  })
})

describe('a poster of JSON', () => {
  it('sends what it is given, and keeps its connections', async () => {
    let connections = 0
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const text = JSON.stringify({ path: request.url, got: Buffer.concat(chunks).toString() })
        response.writeHead(200, { 'Content-Length': Buffer.byteLength(text) }).end(text)
      })
    })
    server.on('connection', () => {
      connections += 1
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const poster = new JsonPoster(`http://127.0.0.1:${port}`)
    await Promise.all([poster.post('/a', 1), poster.post('/b', 2)])
    const answer = await poster.post('/c', { key: 'x' })
    expect(answer).toEqual({ status: 200, body: { path: '/c', got: '{"key":"x"}' } })
    expect(connections).toBe(2)
    poster.close()
    server.close()
    await once(server, 'close')
  })

  it('opens another connection when the server has closed an idle one', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'Content-Length': 2 }).end('{}')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const poster = new JsonPoster(`http://127.0.0.1:${port}`)
    const connected = once(server, 'connection') as Promise<[Socket]>
    await poster.post('/a', {})
    const [socket] = await connected
    server.closeIdleConnections()
    await once(socket, 'close')
    expect((await poster.post('/b', {})).status).toBe(200)
    poster.close()
    server.close()
    await once(server, 'close')
  })

  it('does not leave this machine', () => {
    expect(() => new JsonPoster('http://example.org:80')).toThrow('not on this machine')
  })
})
