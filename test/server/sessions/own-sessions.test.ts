import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Served, serve } from '../served.ts'
import { RawClient } from './raw-client.ts'

let served: Served
let holder: RawClient
let other: RawClient

beforeEach(async () => {
  served = await serve()
  holder = await RawClient.open(served.server.url)
  other = await RawClient.open(served.server.url)
  holder.ask(1, { kind: 'acquire', key: 'k', owner: 'a', requestId: '1', session: holder.session })
  expect(await holder.answer(1)).toMatchObject({ kind: 'granted' })
})

afterEach(async () => {
  holder.cut()
  other.cut()
  await served.close()
})

const holds = async (): Promise<number> => (await served.engine.read({ kind: 'stats' })).holds

describe('the session of a WebSocket, whose id another client of its principal knows', () => {
  it.each([
    ['close-session', {}],
    ['touch-session', {}],
    ['open-session', { graceMs: 100, keepsLeases: false }],
  ] as const)('is not there for its %s', async (kind, more) => {
    other.ask(1, { kind, session: holder.session, ...more } as never)
    expect(await other.answer(1)).toMatchObject({ kind: 'refused', code: 'no_session' })
    expect(await holds()).toBe(1)
  })

  it.each([
    ['PUT', { grace_ms: 100, keeps_leases: false }],
    ['POST', {}],
    ['DELETE', undefined],
  ])('is not there for its %s over HTTP', async (method, body) => {
    const path = `/v1/sessions/${holder.session}`
    const { status, body: answer } = await served.call(path, { method, body })
    expect([status, answer['code']]).toEqual([404, 'no_session'])
    expect(await holds()).toBe(1)
  })

  it('is joined by no event stream', async () => {
    const { status, body } = await served.call(`/v1/events?session=${holder.session}`)
    expect([status, body['code']]).toEqual([404, 'no_session'])
  })

  it('is closed by its own client, by a message or by good-bye', async () => {
    holder.ask(2, { kind: 'close-session', session: holder.session })
    expect(await holder.answer(2)).toMatchObject({ kind: 'session-closed', ended: 1 })
    expect(await holds()).toBe(0)
  })
})

it('a session that a client has named itself is closed by every client that knows its name', async () => {
  await served.call('/v1/sessions/s', { method: 'PUT', body: { grace_ms: 5_000 } })
  other.ask(1, { kind: 'close-session', session: 's' })
  expect(await other.answer(1)).toMatchObject({ kind: 'session-closed' })
})
