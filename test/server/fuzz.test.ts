import { Agent, request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, it } from 'vitest'
import { Log } from '../../src/server/observe/log.ts'
import { Random } from '../../src/testing/random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { drawRequest, type FuzzRequest } from './fuzz/fuzz-request.ts'
import { mutateText } from './fuzz/nasty-values.ts'
import { sendRawAndEnd, statusOf } from './limits/raw-http.ts'
import { assertDescribed } from './openapi/described-answers.ts'
import { type Served, serve } from './served.ts'
import { openTestEngine } from './test-engine.ts'

const REQUESTS = process.env['HOLDFAST_TEST_DOSE'] === 'long' ? 400_000 : 20_000
const GARBAGE = 3_000
const AT_ONCE = 16
const TIME_EVERY = 32
const SEED = process.env['HOLDFAST_FUZZ_SEED'] ?? String(Date.now())
/** A stream, or a wait without a number, has no end to wait for. */
const PATIENCE_MS = 300
const HEAP_GROWTH_MAX = 24 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let served: Served
let clock: VirtualClock
let failures: string[]
let isPassing = false
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

afterEach(async () => {
  agent.destroy()
  await served.close()
})

async function open(): Promise<void> {
  clock = new VirtualClock()
  failures = []
  const engine = await openTestEngine({ clock, history: true })
  const log = new Log({
    level: 'error',
    form: 'json',
    write: (line) => failures.push(line),
    wallMs: () => 0,
  })
  served = await serve({ engine, clock, log, insecure: true })
}

/** The status; 0 where the answer goes on and on. */
function send({ method, path, headers, body }: FuzzRequest): Promise<number> {
  const { port } = served.server.address
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent }, (got) => {
      const isStream = got.headers['content-type']?.startsWith('text/event-stream') === true
      const { statusCode: status = 0 } = got
      let text = ''
      got.on('error', () => {})
      if (isStream) got.destroy()
      else got.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      got.on('close', () => {
        try {
          if (!isStream) assertDescribed({ method, path, status, body: parse(text) })
          resolve(status)
        } catch (error) {
          reject(error as Error)
        }
      })
    })
    sent.setTimeout(PATIENCE_MS, () => {
      sent.destroy()
      resolve(0)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // An answer to a body that is too long may come before the body has left.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(0)
      else reject(error)
    })
    sent.end(body)
  })
}

/** What is no JSON is of another type, or was cut off because it took too long. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Leases, waits and graces come to their end while other requests are on their way. */
async function passTime(): Promise<void> {
  if (isPassing) return
  isPassing = true
  await clock.advance(70_000)
  isPassing = false
}

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

it(`no request crashes the server, none is a 500, and memory stays flat (seed ${SEED})`, async () => {
  await open()
  const random = new Random(SEED)
  const statuses = new Map<number, number>()
  let heapBefore = 0
  let left = REQUESTS
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      if (left === REQUESTS / 2) heapBefore = heapBytes()
      if (left % TIME_EVERY === 0) await passTime()
      const drawn = drawRequest(random)
      const status = await send(drawn)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status >= 500) expect.fail(`${status} (seed ${SEED}): ${describeRequest(drawn)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(failures, `seed ${SEED}`).toEqual([])
  expect((await served.call('/readyz')).status).toBe(200)
  // The inputs reach the engine, and most are wrong in some way.
  expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 10)
  expect(statuses.get(400)).toBeGreaterThan(REQUESTS / 10)
  expect(heapBytes() - heapBefore).toBeLessThan(HEAP_GROWTH_MAX)

  await clock.advance(25 * 3_600_000)
  await expect
    .poll(async () => served.engine.read({ kind: 'stats' }))
    .toMatchObject({ holds: 0, waiters: 0, sessions: 0, ended: 0 })
}, 400_000)

it(`bytes that are no request are answered with 400 or not at all (seed ${SEED})`, async () => {
  await open()
  const random = new Random(`${SEED}/garbage`)
  for (let sent = 0; sent < GARBAGE; sent += AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const bytes = drawBytes(random)
        return { bytes, answer: await sendRawAndEnd(served.server.address.port, bytes) }
      }),
    )
    for (const { bytes, answer } of answers) {
      const shown = JSON.stringify(bytes.toString('latin1').slice(0, 300))
      if (statusOf(answer) >= 500) expect.fail(`${answer} (seed ${SEED}): ${shown}`)
    }
  }
  expect(failures, `seed ${SEED}`).toEqual([])
  expect((await served.call('/readyz')).status).toBe(200)
}, 200_000)

const VALID = [
  'POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 23\r\nconnection: close\r\n\r\n{"key":"k","owner":"o"}',
  'GET /v1/locks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
  'POST /v1/batch HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\n[]\r\n0\r\n\r\n',
  'GET /v1/session HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n\r\n\u0082\u0085\u0001\u0002\u0003\u0004abcde',
]

function drawBytes(random: Random): Buffer {
  if (random.chance(0.3)) {
    return Buffer.from(Array.from({ length: random.int(1, 400) }, () => random.int(0, 255)))
  }
  return Buffer.from(mutateText(random, random.pick(VALID)), 'latin1')
}

function describeRequest({ method, path, headers, body }: FuzzRequest): string {
  return JSON.stringify({ method, path, headers, body: body?.toString('latin1').slice(0, 2_000) })
}
