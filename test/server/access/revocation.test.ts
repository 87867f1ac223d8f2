import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { CLOSE_CODES } from '../../../src/wire/session/session-limits.ts'
import { parseTokenFile } from '../../../src/server/access/token-file.ts'
import { type Served, serve, sha256, tokensFor } from '../served.ts'
import { RawClient } from '../sessions/raw-client.ts'

const OTHER = { name: 'bob' } as const
/** A wait that only the end of the token can end. */
const WAIT_MS = 60_000

let served: Served

beforeEach(async () => {
  served = await serve({ tokens: tokensFor({ name: 'alice' }, OTHER) })
})

afterEach(() => served.close())

async function client(token = 'alice-token'): Promise<RawClient> {
  const opened = await RawClient.open(served.server.url, {}, { authorization: `Bearer ${token}` })
  onTestFinished(() => opened.cut())
  return opened
}

/** The token of alice is taken away. */
function takeAway(): void {
  served.server.replaceTokens(tokensFor(OTHER))
}

async function acquire(session: RawClient, asked: Partial<Acquire>): Promise<void> {
  const { session: id } = session
  session.ask(1, { kind: 'acquire', key: 'k', owner: 'o', requestId: '1', session: id, ...asked })
  await session.answer(1)
}

const waitersOf = async (key: string): Promise<number> =>
  (await served.engine.read({ kind: 'inspect', key })).queueLength

describe('what a client has open when its token is taken away', () => {
  it('a session is closed, its places are given up, and its holds are left to their leases', async () => {
    await served.engine.apply({ kind: 'acquire', key: 'busy', owner: 'other', requestId: '1' })
    const alice = await client()
    await acquire(alice, { ttlMs: WAIT_MS })
    const { session } = alice
    const asked = { key: 'busy', owner: 'o', requestId: '1', session, waitMs: WAIT_MS }
    alice.ask(2, { kind: 'acquire', ...asked })
    await expect.poll(() => waitersOf('busy')).toBe(1)
    takeAway()
    expect((await alice.closed).code).toBe(CLOSE_CODES.revoked)
    await expect.poll(() => waitersOf('busy')).toBe(0)
    const { holders } = await served.engine.read({ kind: 'inspect', key: 'k' })
    expect(holders).toMatchObject([{ owner: 'alice/o' }])
  })

  it('a connection for heartbeats is closed too', async () => {
    const { session } = await client()
    const headers = { authorization: 'Bearer alice-token' }
    const beats = await RawClient.open(
      served.server.url,
      { session, isHeartbeatOnly: true },
      headers,
    )
    takeAway()
    const { code } = await beats.closed
    expect([CLOSE_CODES.revoked, CLOSE_CODES.unknownSession]).toContain(code)
  })

  it('an event stream ends', async () => {
    const response = await fetch(`${served.server.url}/v1/events`, {
      headers: { authorization: 'Bearer alice-token' },
    })
    expect(response.status).toBe(200)
    takeAway()
    // The body ends, instead of going on for ever.
    await response.text()
  })

  it('a request that waits is answered 401, and its place is given up', async () => {
    await served.engine.apply({ kind: 'acquire', key: 'k', owner: 'other', requestId: '1' })
    const asked = { key: 'k', owner: 'o', request_id: 'r', wait_ms: WAIT_MS }
    const waiting = served.post('/v1/acquire', asked, 'alice-token')
    await expect.poll(() => waitersOf('k')).toBe(1)
    takeAway()
    expect((await waiting).status).toBe(401)
    await expect.poll(() => waitersOf('k')).toBe(0)
  })

  it('a request whose body is still on its way does nothing', async () => {
    const text = JSON.stringify({ key: 'k', owner: 'o' })
    const sent = request(`${served.server.url}/v1/acquire`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer alice-token',
        expect: '100-continue',
        'content-length': text.length,
      },
    })
    sent.flushHeaders()
    // The server has let the client in.
    await once(sent, 'continue')
    takeAway()
    sent.end(text)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode).toBe(401)
    expect((await served.engine.read({ kind: 'stats' })).holds).toBe(0)
  })
})

it('what others have open stays', async () => {
  const bob = await client('bob-token')
  await acquire(bob, {})
  takeAway()
  bob.read(2, { kind: 'stats' })
  expect(await bob.answer(2)).toMatchObject({ kind: 'reply' })
})

it('a client whose rights were narrowed is closed, and has only the new ones when it is back', async () => {
  const alice = await client()
  await acquire(alice, { ttlMs: WAIT_MS })
  const { session } = alice
  served.server.replaceTokens(tokensFor({ name: 'alice', prefixes: ['orders/'] }, OTHER))
  await alice.closed
  const headers = { authorization: 'Bearer alice-token' }
  const again = await RawClient.open(served.server.url, { session }, headers)
  onTestFinished(() => again.cut())
  expect(again.session).toBe(session)
  again.ask(1, { kind: 'renew', key: 'k', owner: 'o', ttlMs: WAIT_MS })
  expect(await again.answer(1)).toMatchObject({ kind: 'failed', code: 'LOCK_FORBIDDEN' })
})

it('a session that came back with the newer of two tokens stays when the older is taken away', async () => {
  const tokens = (...hashes: string[]) => [
    ...parseTokenFile(
      't.json',
      JSON.stringify({ tokens: [{ name: 'alice', role: 'client', sha256: hashes }] }),
    ),
    ...tokensFor(OTHER),
  ]
  const old = sha256('alice-token')
  served.server.replaceTokens(tokens(old, sha256('new')))
  const first = await client()
  await acquire(first, { ttlMs: WAIT_MS })
  const { session } = first
  const second = await RawClient.open(
    served.server.url,
    { session },
    { authorization: 'Bearer new' },
  )
  onTestFinished(() => second.cut())
  await first.closed
  served.server.replaceTokens(tokens(sha256('new')))
  second.read(2, { kind: 'stats' })
  expect(await second.answer(2)).toMatchObject({ kind: 'reply' })
})
