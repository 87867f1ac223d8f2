import { afterEach, beforeEach, expect, it } from 'vitest'
import { RawClient } from '../sessions/raw-client.ts'
import { AttackedServer } from './attacked-server.ts'
import { probeDuring } from './probe.ts'

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'
const WAITERS = isLong ? 50_000 : 5_000
const SESSIONS = isLong ? 10_000 : 300
const KEYS = isLong ? 200_000 : 20_000
const LISTS = 40
const HOLDS = isLong ? 100_000 : 20_000
/** Requests in one frame. */
const AT_ONCE = 500
const NEVER = Number.POSITIVE_INFINITY
/** Of another client; 250 ms on a machine that does nothing else, and tests run side by side. */
const WAIT_MS_MAX = isLong ? 1_000 : 500

let server: AttackedServer
let url: string
let clients: RawClient[]

beforeEach(async () => {
  const limits = ['waiters=100000', 'holds=1000000', 'connections=30000']
  server = await AttackedServer.start(limits.flatMap((limit) => ['--limit', limit]))
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

async function expectNoStall(what: string, run: () => Promise<void>): Promise<void> {
  const longestMs = await probeDuring(await client(), run)
  console.log(`${what}: another client waited for ${Math.round(longestMs)} ms at most`)
  expect(longestMs).toBeLessThan(WAIT_MS_MAX)
  expect(await server.isAlive()).toBe(true)
}

/** So many keys are held in the session of this client. */
async function hold(holder: RawClient, count: number, ttlMs: number): Promise<void> {
  const { session } = holder
  for (let first = 0; first < count; first += AT_ONCE) {
    const ids = Array.from({ length: AT_ONCE }, (_, index) => index)
    holder.heard.length = 0
    holder.say(
      ...ids.map((id) => {
        const asked = { key: `key-${first + id}`, owner: 'o', requestId: '1', ttlMs, session }
        return [id, { kind: 'acquire', ...asked }] as const
      }),
    )
    await holder.answer(AT_ONCE - 1)
  }
}

const count = (name: string): Promise<number> => server.gauge(`holdfast_${name}`)

it(`${WAITERS} waiters on one key, that come and go`, async () => {
  const [holder, waiting] = [await client(), await client()]
  holder.ask(1, { kind: 'acquire', key: 'k', owner: 'holder', requestId: '1', ttlMs: 3_600_000 })
  await holder.answer(1)
  const { session } = waiting
  await expectNoStall(`${WAITERS} waiters`, async () => {
    for (let first = 0; first < WAITERS; first += AT_ONCE) {
      const ids = Array.from({ length: AT_ONCE }, (_, index) => first + index)
      waiting.say(
        ...ids.map((id) => {
          const asked = { key: 'k', owner: `o${id}`, requestId: '1', waitMs: NEVER, session }
          return [id, { kind: 'acquire', ...asked }] as const
        }),
      )
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => count('waiters')).toBe(WAITERS)
    holder.ask(2, { kind: 'release', key: 'k', owner: 'holder' })
    await holder.answer(2)
    waiting.goodbye()
    await expect.poll(() => count('waiters')).toBe(0)
  })
})

it(`${SESSIONS} sessions that end at once`, async () => {
  for (let first = 0; first < SESSIONS; first += 100) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const one = await client()
        const { session } = one
        const own = { owner: 'o', ttlMs: 5_000, session } as const
        const next = `s${(first + index + 1) % SESSIONS}`
        one.say(
          [1, { kind: 'acquire', key: `s${first + index}`, requestId: '1', ...own }],
          [2, { kind: 'acquire', key: next, requestId: '2', waitMs: NEVER, ...own }],
        )
        await one.answer(1)
      }),
    )
  }
  const all = clients.splice(0)
  await expectNoStall(`${SESSIONS} sessions that end`, async () => {
    for (const [index, one] of all.entries()) {
      one.cut()
      // The process of this test has to read the answers of the other client as well.
      if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => count('sessions'), { timeout: 60_000 }).toBe(0)
  })
})

it(`lists of ${KEYS} keys, and scans for keys that are not there`, async () => {
  await hold(await client(), KEYS, 3_600_000)
  const readers = await Promise.all(Array.from({ length: 8 }, () => client()))
  await expectNoStall(`lists of ${KEYS} keys`, async () => {
    await Promise.all(
      readers.map(async (reader, index) => {
        const query = index % 2 === 0 ? { limit: 1_000 } : { prefix: 'none' }
        for (let id = 0; id < LISTS; id += 1) {
          reader.read(id, { kind: 'list', ...query })
          await reader.answer(id)
          reader.heard.length = 0
        }
      }),
    )
  })
})

it(`${HOLDS} holds that end with a good-bye`, async () => {
  const holder = await client()
  await hold(holder, HOLDS, 3_600_000)
  await expectNoStall(`${HOLDS} holds that end`, async () => {
    holder.goodbye()
    await expect.poll(() => count('holds')).toBeLessThan(10)
  })
})

it(`${HOLDS} leases that run out together`, async () => {
  const holder = await client()
  await hold(holder, HOLDS, 5_000)
  await expectNoStall(`${HOLDS} leases that run out`, async () => {
    holder.cut()
    await expect.poll(() => count('holds'), { timeout: 60_000 }).toBeLessThan(10)
  })
})
