import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { LockClient } from '../../../src/client/lock-client.ts'
import type { LockError } from '../../../src/engine/errors/errors.ts'
import { SessionEngine } from '../../../src/engines/remote/session-engine.ts'
import { HeartbeatThread } from '../../../src/engines/remote/heartbeat-thread.ts'
import { connect } from '../../../src/locks/connect.ts'
import type { TlsOptions } from '../../../src/locks/options/tls-options.ts'
import type { LockServerOptions } from '../../../src/server/lock-server.ts'
import { SystemClock } from '../../../src/time/system-clock.ts'
import { type Served, serve } from '../served.ts'
import { makeCertificate } from './make-certificate.ts'

const authority = makeCertificate({ name: 'an authority' })
const another = makeCertificate({ name: 'another authority' })
const ours = makeCertificate({ name: 'ours', issuer: authority })
const { cert, key } = makeCertificate({ name: 'client', issuer: authority })
const ca = authority.cert

/** Less than a client tries a server that is away. */
const AT_ONCE_MS = 9_000
const UNTRUSTED = {
  code: 'LOCK_SERVER_UNTRUSTED',
  applied: 'no',
  message: expect.stringMatching(/not signed by an authority .* `ca`/),
}
const NO_CERTIFICATE = {
  code: 'LOCK_FORBIDDEN',
  message: expect.stringMatching(/client certificate.* `cert` and `key`/),
}

/** Nobody says why, and a server that is restarted does the same; so it is tried again, for a while. */
const HUNG_UP = {
  code: 'LOCK_ENGINE_UNAVAILABLE',
  message: expect.stringMatching(/hung up .* authority .*`cert`, --client-cert/),
}
const GIVING_UP_MS = 60_000

let served: Served

afterEach(() => served.close())

async function openServer(tls: Partial<LockServerOptions['tls']> = {}): Promise<string> {
  served = await serve({ tls: { ...ours, ...tls } })
  return served.server.url
}

/** Takes a lock and watches, with each kind of client; rejects as the client does. */
const CLIENTS: Readonly<Record<string, (url: string, tls: TlsOptions) => Promise<unknown>>> = {
  connect: takeAndWatch,
  'LockClient by events': (url, tls) => pull(url, tls, 'events'),
  'LockClient by polling': (url, tls) => pull(url, tls, 'polling'),
}

async function takeAndWatch(url: string, tls: TlsOptions): Promise<unknown> {
  await using locks = await connect(url, tls)
  await using watch = locks.watch()
  const first = watch[Symbol.asyncIterator]().next()
  await watch.ready
  await using lock = await locks.acquire('a')
  expect((await first).value).toMatchObject({ kind: 'granted', key: 'a' })
  return lock.token
}

async function pull(
  url: string,
  tls: TlsOptions,
  waitBy: 'events' | 'polling',
): Promise<number | undefined> {
  await using client = new LockClient({ server: url, nodeId: 'n', waitBy, ...tls })
  const operation = { type: 'pull', resourceId: 'a' }
  const { error, token } = await client.lock(operation)
  if (error !== null) throw error
  await client.unlock(operation)
  return token
}

async function failureOf(attempt: Promise<unknown>): Promise<LockError> {
  return await attempt.then(
    () => expect.unreachable('it was let in'),
    (error: LockError) => error,
  )
}

describe.each(Object.entries(CLIENTS))('%s', (_, use) => {
  it('trusts the authority that it is given', async () => {
    expect(await use(await openServer(), { ca })).toBe(1)
  })

  it.each([
    ['another authority', another.cert],
    ['none of its own', undefined],
  ])(
    'that has %s says at once that it does not trust the server',
    async (_name, wrong) => {
      const error = await failureOf(use(await openServer(), { ca: wrong }))
      expect(error).toMatchObject(UNTRUSTED)
    },
    AT_ONCE_MS,
  )

  it('shows its certificate to a server that asks for one', async () => {
    expect(await use(await openServer({ ca }), { ca, cert, key })).toBe(1)
  })

  it(
    'without a certificate says at once that the server asks for one',
    async () => {
      const error = await failureOf(use(await openServer({ ca }), { ca }))
      expect(error).toMatchObject(NO_CERTIFICATE)
    },
    AT_ONCE_MS,
  )

  it('does not trust the certificate of another host', async () => {
    const elsewhere = makeCertificate({ name: 'x', issuer: authority, host: 'locks.example' })
    const error = await failureOf(use(await openServer(elsewhere), { ca }))
    expect(error).toMatchObject({
      code: 'LOCK_SERVER_UNTRUSTED',
      message: expect.stringContaining('is for another name'),
    })
  })

  it.each([
    ['ca', { ca: 'ca.pem' }],
    ['cert', { cert: 'cert.pem', key }],
    ['key', { cert }],
    ['cert', { key }],
    ['key', { cert, key: ours.key }],
  ])('refuses options whose %s is no good', async (option, tls) => {
    const error = await failureOf(use(await openServer(), tls))
    expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT', details: { option } })
    expect(error.message).toMatch(/PEM|needs|does not fit/)
  })
})

it(
  'clients with a certificate of another authority say what may be wrong',
  async () => {
    const url = await openServer({ ca })
    const stranger = makeCertificate({ name: 'stranger', issuer: another })
    const tls = { ca, cert: stranger.cert, key: stranger.key }
    const errors = Object.values(CLIENTS).map((use) => failureOf(use(url, tls)))
    for (const error of await Promise.all(errors)) expect(error).toMatchObject(HUNG_UP)
  },
  GIVING_UP_MS,
)

describe('the thread that sends heartbeats', () => {
  it('trusts the authority and shows the certificate that its process was given', async () => {
    const url = await openServer({ ca })
    const tls = { ca, cert, key }
    await using engine = await SessionEngine.open(url, { tls, heartbeatThread: false })
    const address = { url, token: undefined, tls, client: '' }
    const clock = new SystemClock()
    const session = engine.session.id
    const thread = new HeartbeatThread({ ...address, clock, session, heartbeatMs: 50 })
    try {
      thread.start()
      // That of the process itself, this one, and the one that asks.
      await expect.poll(() => countConnections(tls), { timeout: 20_000 }).toBe(3)
    } finally {
      await thread.stop()
    }
  })
})

/** Open connections, that of the question included. */
async function countConnections(tls: TlsOptions): Promise<number> {
  const answer = get(`${served.server.url}/metrics`, { ...tls, agent: false })
  const [response] = (await once(answer, 'response')) as [IncomingMessage]
  const metrics = await text(response)
  return Number(/^holdfast_http_connections (\d+)$/m.exec(metrics)?.[1])
}

describe('a session', () => {
  it('that cannot trust its server any more comes back when it can again', async () => {
    const url = await openServer()
    await using engine = await SessionEngine.open(url, { tls: { ca }, heartbeatThread: false })
    const { port } = served.server.address
    await served.server.close()
    const tls = makeCertificate({ name: 'wrong', issuer: another })
    served = await serve({ engine: served.engine, port, tls })
    const answer = engine.read({ kind: 'stats' })
    expect(await failureOf(connect(url, { ca }))).toMatchObject(UNTRUSTED)
    served.server.replaceTls(ours)
    expect(await answer).toMatchObject({ holds: 0 })
  })
})
