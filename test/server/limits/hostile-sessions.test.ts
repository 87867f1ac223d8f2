import { once } from 'node:events'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Random } from '../../../src/testing/random.ts'
import { PackWriter } from '../../../src/wire/session/pack-writer.ts'
import { writeMessage } from '../../../src/wire/session/message-codec.ts'
import type { ClientMessage } from '../../../src/wire/session/session-message.ts'
import { RawClient } from '../sessions/raw-client.ts'
import { AttackedServer } from './attacked-server.ts'
import { probeDuring } from './probe.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const FRAMES = isLong ? 250_000 : 5_000
const LAZY = isLong ? 200 : 24
const PINGS = isLong ? 400_000 : 60_000
const KEYS = 2_000
const AT_ONCE = 16
const SEED = process.env['HOLDFAST_FUZZ_SEED'] ?? String(Date.now())
const GROWTH_MIB_MAX = 300
/** Of another client, in the process that attacks, on a machine on which other tests run as well. */
const WAIT_MS_MAX = 2_000

let server: AttackedServer
let url: string
let clients: RawClient[]

beforeEach(async () => {
  server = await AttackedServer.start()
  url = `http://127.0.0.1:${server.port}`
  clients = []
})

afterEach(async () => {
  for (const one of clients) one.cut()
  await server.close()
})

async function client(): Promise<RawClient> {
  const opened = await RawClient.open(url)
  clients.push(opened)
  return opened
}

/** Runs an attack while another client goes on, which has to be answered soon; resolves to the growth in MiB. */
async function attack(what: string, run: () => Promise<void>): Promise<number> {
  let grown = 0
  const longestMs = await probeDuring(await client(), async () => {
    grown = await server.attack(what, run)
  })
  console.log(`${what}: another client waited for ${Math.round(longestMs)} ms at most`)
  expect(longestMs).toBeLessThan(WAIT_MS_MAX)
  expect(await server.isAlive()).toBe(true)
  return grown
}

/** Keys with long names, so that a page of their list has a megabyte. */
async function fillKeys(): Promise<void> {
  const filler = await client()
  const name = 'k'.repeat(480)
  for (let first = 0; first < KEYS; first += 200) {
    const ids = Array.from({ length: 200 }, (_, index) => first + index)
    filler.say(
      ...ids.map((id) => {
        const asked = { key: `${name}${id}`, owner: 'o', requestId: '1', ttlMs: 3_600_000 }
        return [id, { kind: 'acquire', ...asked }] as const
      }),
    )
    await Promise.all(ids.map((id) => filler.answer(id)))
  }
}

it(`${LAZY} sessions that read lists and take no reply cost bounded memory`, async () => {
  await fillKeys()
  const grown = await attack(`${LAZY} sessions that take no reply`, async () => {
    const list = { kind: 'read', query: { kind: 'list', limit: 1_000 } } as const
    await Promise.all(
      Array.from({ length: LAZY }, async () => {
        const lazy = await client()
        lazy.socket.pause()
        for (let round = 0; round < 20 && lazy.socket.readyState === lazy.socket.OPEN; round += 1) {
          lazy.say(...Array.from({ length: 1_000 }, (_, id) => [id, list] as const))
          await new Promise((resolve) => setImmediate(resolve))
        }
      }),
    )
    // None of them is heard while it does not read, so all are closed after the grace.
    const isOver = async (): Promise<boolean> => (await server.connections()) < LAZY
    await expect.poll(isOver, { timeout: 60_000 }).toBe(true)
  })
  expect(grown).toBeLessThan(GROWTH_MIB_MAX)
})

it(`${PINGS} pings and heartbeats whose answers are not read cost bounded memory`, async () => {
  const grown = await attack(`${PINGS} pings and heartbeats`, async () => {
    const lazy = await client()
    lazy.socket.pause()
    const beat = new PackWriter()
    writeMessage(beat, 1, { kind: 'heartbeat' })
    const frame = beat.take()
    for (let sent = 0; sent < PINGS; sent += 2) {
      lazy.socket.ping('x'.repeat(120))
      lazy.socket.send(frame)
      // A server that reads nothing more makes them wait here: that is what it is to do.
      if (lazy.socket.bufferedAmount > 16 * 1024 * 1024) break
      if (sent % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  })
  expect(grown).toBeLessThan(GROWTH_MIB_MAX)
})

it(`${FRAMES} hostile frames cost bounded memory (seed ${SEED})`, async () => {
  const random = new Random(SEED)
  let left = FRAMES
  const work = async (): Promise<void> => {
    while (left > 0) {
      const one = await RawClient.open(url)
      clients.push(one)
      while (left > 0 && one.socket.readyState === one.socket.OPEN) {
        left -= 1
        one.heard.length = 0
        one.socket.send(drawFrame(random, one))
        // Nearly every frame is answered, or ends the connection; a ping comes back after all of it.
        one.socket.ping()
        await Promise.race([once(one.socket, 'pong'), one.closed])
      }
      one.cut()
      clients.splice(clients.indexOf(one), 1)
    }
  }
  const grown = await attack(`${FRAMES} hostile frames`, async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  })
  expect(grown).toBeLessThan(GROWTH_MIB_MAX)
})

/** Bytes of any kind; a frame that is nearly right; or one that is right, and asks for much. */
function drawFrame(random: Random, { session }: RawClient): Buffer {
  if (random.chance(0.2)) {
    return Buffer.from(Array.from({ length: random.int(0, 500) }, () => random.int(0, 255)))
  }
  const writer = new PackWriter()
  writer.ownSession = session
  const count = random.chance(0.02) ? 3_000 : random.int(1, 20)
  for (let index = 0; index < count; index += 1) {
    writeMessage(writer, random.int(0, 2_000), drawMessage(random, session))
  }
  const frame = writer.take()
  if (random.chance(0.3)) frame[random.int(0, frame.length - 1)] = random.int(0, 255)
  return random.chance(0.1) ? frame.subarray(0, random.int(0, frame.length)) : frame
}

function drawMessage(random: Random, session: string): ClientMessage {
  const key = random.pick(['a', 'b', 'c', `${random.int(0, 500)}`])
  const owner = random.pick(['x', 'y', 'z'])
  const requestId = `${random.int(0, 50)}`
  const waitMs = random.pick([0, 1_000, Number.POSITIVE_INFINITY])
  const own = random.chance(0.5) ? session : undefined
  return random.pick<ClientMessage>([
    { kind: 'acquire', key, owner, requestId, waitMs, ttlMs: 1_000, session: own },
    { kind: 'acquire', key, owner, requestId, mode: 'read', waitMs, session: own },
    { kind: 'begin', type: 'pull', resource: key, node: owner, waitMs, session: own },
    { kind: 'finish', type: 'pull', resource: key, node: owner, success: random.chance(0.5) },
    { kind: 'release', key, owner },
    { kind: 'cancel', key, owner },
    { kind: 'renew', key, owner, ttlMs: 1_000 },
    { kind: 'unref', node: owner },
    { kind: 'sweep' },
    { kind: 'open-session', session: owner, graceMs: 1_000 },
    { kind: 'close-session', session: own ?? owner },
    { kind: 'heartbeat' },
    { kind: 'goodbye' },
    { kind: 'watch', watch: random.int(0, 5) },
    { kind: 'unwatch', watch: random.int(0, 5) },
    { kind: 'read', query: { kind: 'list', limit: random.int(1, 1_000) } },
    { kind: 'read', query: { kind: 'inspect', key, queueLimit: random.int(1, 1_000) } },
    { kind: 'read', query: { kind: 'history' } },
    { kind: 'read', query: { kind: 'stats' } },
  ])
}
