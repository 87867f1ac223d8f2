import { Agent, request } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Random } from '../../../src/testing/random.ts'
import { drawRequest } from '../fuzz/fuzz-request.ts'
import { mutateText } from '../fuzz/nasty-values.ts'
import { AttackedServer } from './attacked-server.ts'
import { sendRawAndEnd } from './raw-http.ts'
import { SilentSockets } from './silent-sockets.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const SOCKETS = isLong ? 2_000 : 200
const REQUESTS = isLong ? 200_000 : 4_000
const AT_ONCE = 32
const SEED = process.env['HOLDFAST_FUZZ_SEED'] ?? String(Date.now())
const GROWTH_MIB_MAX = 300
/** Connections of the test's own questions, of which some are asked at once. */
const OURS_MAX = 8
/** The last limit that such a client breaks is that of a body, 15 s; and 15 s after that. */
const GONE_MS = 30_000
/** A stream, or a wait without a number, has no end to wait for. */
const PATIENCE_MS = 300

const HOST = 'host: localhost\r\n'
const UPGRADE =
  'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n'
const LONG = 'x'.repeat(12_000)

let server: AttackedServer
let sockets: SilentSockets

beforeEach(async () => {
  server = await AttackedServer.start()
  sockets = new SilentSockets(server.port)
})

afterEach(async () => {
  sockets.cut()
  await server.close()
})

async function expectGone(): Promise<void> {
  await expect.poll(() => server.connections(), { timeout: GONE_MS }).toBeLessThanOrEqual(OURS_MAX)
}

it.each([
  ['that say nothing', ''],
  ['with half a head', `GET / HTTP/1.1\r\n${HOST}x: ${LONG}`],
  ['with half a body', `POST /lock HTTP/1.1\r\n${HOST}content-length: 15000\r\n\r\n${LONG}`],
  ['with a refused upgrade', `GET /nothing HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`],
  ['with a WebSocket and no hello', `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n`],
])(
  `${SOCKETS} sockets %s cost bounded memory, and are gone after their limits`,
  async (what, bytes) => {
    const grown = await server.attack(`${SOCKETS} sockets ${what}`, async () => {
      await sockets.openMany(SOCKETS, bytes)
      await expect.poll(() => server.connections()).toBeGreaterThanOrEqual(SOCKETS)
      if (isLong) await expectGone()
    })
    expect(grown).toBeLessThan(GROWTH_MIB_MAX)
    expect(await server.isAlive()).toBe(true)
  },
)

it.each([
  [
    'sixteen long heads behind a wait',
    `${wait()}${`GET / HTTP/1.1\r\n${HOST}x: ${LONG}\r\n\r\n`.repeat(16)}`,
  ],
  [
    'a hundred long answers that are not read',
    `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(100),
  ],
])(`${SOCKETS} sockets with %s cost bounded memory`, async (what, bytes) => {
  const grown = await server.attack(`${SOCKETS} sockets with ${what}`, async () => {
    await sockets.openMany(SOCKETS, bytes)
    // Those that have too many requests together are cut at once, which may be all of them.
    expect(await server.isAlive()).toBe(true)
    sockets.cut()
    await expectGone()
  })
  expect(grown).toBeLessThan(GROWTH_MIB_MAX)
  expect(await server.isAlive()).toBe(true)
})

it(`${REQUESTS} hostile requests cost bounded memory (seed ${SEED})`, async () => {
  const random = new Random(SEED)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  let left = REQUESTS
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      if (random.chance(0.3)) await sendRawAndEnd(server.port, drawBytes(random))
      else await send(agent, random)
    }
  }
  const grown = await server.attack(`${REQUESTS} hostile requests`, async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  })
  agent.destroy()
  expect(grown).toBeLessThan(GROWTH_MIB_MAX)
  expect(await server.isAlive()).toBe(true)
})

function wait(): string {
  const body = '{"key":"k","owner":"o","wait_ms":600000}'
  const hold = '{"key":"k","owner":"p","ttl_ms":600000}'
  return [hold, body]
    .map(
      (text) => `POST /v1/acquire HTTP/1.1\r\n${HOST}content-length: ${text.length}\r\n\r\n${text}`,
    )
    .join('')
}

const VALID = [
  `POST /v1/acquire HTTP/1.1\r\n${HOST}content-length: 23\r\n\r\n{"key":"k","owner":"o"}`,
  `POST /v1/batch HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`,
  `GET /v1/session HTTP/1.1\r\n${HOST}${UPGRADE}\r\n\u0082\u0085\u0001\u0002\u0003\u0004abcde`,
  `GET /v1/events HTTP/1.1\r\n${HOST}\r\n`,
]

/** Half a request, one that is nearly right, several of them, or nothing of the kind. */
function drawBytes(random: Random): Buffer {
  if (random.chance(0.2)) {
    return Buffer.from(Array.from({ length: random.int(1, 2_000) }, () => random.int(0, 255)))
  }
  const text = Array.from({ length: random.int(1, 3) }, () => random.pick(VALID)).join('')
  const mutated = mutateText(random, text)
  return Buffer.from(mutated.slice(0, random.int(1, mutated.length)), 'latin1')
}

function send(agent: Agent, random: Random): Promise<void> {
  const { method, path, headers, body } = drawRequest(random)
  return new Promise((resolve) => {
    const sent = request(
      { port: server.port, host: '127.0.0.1', method, path, headers, agent },
      (got) => {
        if (got.headers['content-type']?.startsWith('text/event-stream') === true) got.destroy()
        else got.resume()
        got.on('error', () => {})
        got.on('close', resolve)
      },
    )
    sent.setTimeout(PATIENCE_MS, () => sent.destroy())
    sent.on('error', () => resolve())
    sent.end(body)
  })
}
