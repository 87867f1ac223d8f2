import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { serve } from '../served.ts'

/** Longer than the second that everybody is given, and far from for ever. */
const CLOSED_MS = 15_000

async function closeInTime(close: () => Promise<void>): Promise<void> {
  const sinceMs = performance.now()
  await close()
  expect(performance.now() - sinceMs).toBeLessThan(CLOSED_MS)
}

it('a server with idle connections closes at once', async () => {
  const served = await serve()
  await served.call('/healthz')
  await closeInTime(() => served.close())
})

it.each([
  ['half a request', 'POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{'],
  [
    'a session that does not answer',
    'GET /v1/session HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n\r\n',
  ],
  ['a stream that is not read', 'GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n'],
])('nobody keeps a server from closing: %s', async (_, bytes) => {
  const served = await serve()
  const socket = connect(served.server.address.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  socket.pause()
  await expect
    .poll(async () => String((await served.call('/metrics')).body['text']))
    .toMatch(/holdfast_http_connections [2-9]/)
  await closeInTime(() => served.close())
  socket.destroy()
})

it('those who wait keep their place in the engine and are told to come back', async () => {
  const served = await serve()
  await served.post('/v1/acquire', { key: 'k', owner: 'a' })
  const asked = { key: 'k', owner: 'b', wait_ms: 60_000, request_id: '1' }
  const waiting = served.post('/v1/acquire', asked)
  await expect.poll(async () => (await served.engine.read({ kind: 'stats' })).waiters).toBe(1)
  await served.server.close()
  const { status, body } = await waiting
  expect([status, body['code'], body['retryable'], body['applied']]).toEqual([
    503,
    'unavailable',
    true,
    'no',
  ])
  expect((await served.engine.read({ kind: 'stats' })).waiters).toBe(1)
  await served.engine.close()
})
