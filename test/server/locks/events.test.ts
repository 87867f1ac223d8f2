import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holders, type LockRig, openRig } from './lock-rig.ts'
import { pass } from '../test-engine.ts'

const GRACE_MS = 5_000

let rig: LockRig

beforeEach(async () => {
  rig = await openRig({ sessionGraceMs: GRACE_MS })
})

afterEach(() => rig.close())

describe('the stream of events', () => {
  it('tells every change with an id, a time and what it is about', async () => {
    const stream = await rig.stream('/v1/events')
    expect(stream.response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    await rig.acquire('a', { request_id: '1' })
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    await stream.until(2)
    expect(stream.events).toEqual([
      {
        event: 'granted',
        id: stream.messages.at(-2)?.id,
        at: '2030-01-01T00:00:00.000Z',
        kind: 'lock',
        key: 'k',
        owner: 'a',
        request_id: '1',
        mode: 'write',
        token: 1,
      },
      expect.objectContaining({ event: 'released', owner: 'a', token: 1 }),
    ])
  })

  it('tells only of what was asked for', async () => {
    const stream = await rig.stream('/v1/events?prefix=a%2F&kind=operation')
    await rig.acquire('a', { key: 'a/1' })
    await rig.post('/v1/begin', { type: 'pull', resource: 'b', node: 'n' })
    await rig.post('/v1/begin', { type: 'pull', resource: 'a/2', node: 'n' })
    await rig.post('/v1/finish', {
      type: 'pull',
      resource: 'a/2',
      node: 'n',
      success: true,
      value: { camelCase: 1 },
    })
    await stream.until(3)
    expect(stream.events.map(({ event, key }) => [event, key])).toEqual([
      ['granted', 'a/2'],
      ['released', 'a/2'],
      ['completed', 'a/2'],
    ])
    expect(stream.events[2]).toMatchObject({ success: true, value: { camelCase: 1 } })
  })

  it('goes on where it was for who names the last event it heard', async () => {
    const first = await rig.stream('/v1/events')
    await rig.acquire('a')
    await first.until(1)
    first.close()
    await rig.acquire('b')
    await rig.acquire('c')
    const second = await rig.stream('/v1/events', { 'last-event-id': first.lastId })
    await rig.acquire('d')
    await second.until(3)
    expect(second.events.map(({ owner }) => owner)).toEqual(['b', 'c', 'd'])
    expect(second.messages.every(({ event }) => event === 'message')).toBe(true)
  })

  it('says at its beginning where it stands', async () => {
    const first = await rig.stream('/v1/events')
    await expect.poll(() => first.lastId).not.toBe('')
    first.close()
    await rig.acquire('a')
    const second = await rig.stream('/v1/events', { 'last-event-id': first.lastId })
    await second.until(1)
    expect(second.events[0]).toMatchObject({ event: 'granted', owner: 'a' })
  })

  it('says so when what was missed is gone', async () => {
    for (const id of ['x', 'another-life-7']) {
      const stream = await rig.stream('/v1/events', { 'last-event-id': id })
      await stream.until(1)
      await rig.acquire(`after-${id}`)
      await stream.until(2)
      expect(stream.messages.map(({ event }) => event)).toEqual(['reset', 'message'])
      expect(stream.events[0]).toMatchObject({ event: 'reset', id: stream.messages[0]?.id })
      stream.close()
    }
  })

  it('cannot be forged by a name', async () => {
    const stream = await rig.stream('/v1/events')
    await rig.acquire('a', { key: 'k\u2028data: {"event":"granted"}' })
    await stream.until(1)
    expect(stream.events).toHaveLength(1)
  })

  it('sends a comment every second or two', async () => {
    const stream = await rig.stream('/v1/events')
    await expect.poll(() => stream.text).toContain('\n: \n')
    expect(stream.events).toEqual([])
  })

  it('drops a client that does not read', async () => {
    const stream = await rig.stream('/v1/events')
    stream.response.socket.pause()
    const key = 'k'.repeat(500)
    for (let round = 0; round < 200 && (await streams()) > 0; round += 1) {
      const items = Array.from({ length: 400 }, (_, index) => ({
        op: 'acquire',
        key: `${key}-${index}`,
        owner: `owner-${round}`,
      }))
      await rig.post('/v1/batch', items)
    }
    expect(await streams()).toBe(0)
    stream.close()
  })
})

/** How many streams the server has, as its metrics say. */
async function streams(): Promise<number> {
  const { body } = await rig.call('/metrics')
  return Number(/^holdfast_streams (\d+)$/m.exec(body['text'] as string)?.[1])
}

describe('a stream that names a session', () => {
  it('says how long it may be gone; one that names none does not', async () => {
    const { response } = await rig.stream('/v1/events?session=s')
    expect(response.headers['session-grace-ms']).toBe(String(GRACE_MS))
    const nameless = await rig.stream('/v1/events')
    expect(nameless.response.headers).not.toHaveProperty('session-grace-ms')
  })

  it('names the session field when that is wrong', async () => {
    const { status, body } = await rig.call('/v1/events?session=%01')
    expect([status, body]).toEqual([400, expect.objectContaining({ field: 'session' })])
    expect(body['error']).toMatch(/^session /)
  })

  it('keeps the session while it is open, and its grace runs from its close', async () => {
    const stream = await rig.stream('/v1/events?session=s')
    await rig.acquire('a', { session: 's', ttl_ms: 3_600_000 })
    await pass(rig.engine, rig.clock, 10 * GRACE_MS)
    expect(await holders(rig.engine)).toEqual(['a'])
    stream.close()
    await expect.poll(streams).toBe(0)
    await rig.clock.advance(GRACE_MS - 1)
    expect(await holders(rig.engine)).toEqual(['a'])
    await rig.clock.advance(2)
    expect(await holders(rig.engine)).toEqual([])
  })

  it('loses nothing when it comes back in time', async () => {
    const first = await rig.stream('/v1/events?session=s')
    await rig.acquire('a', { session: 's', ttl_ms: 3_600_000 })
    first.close()
    await expect.poll(streams).toBe(0)
    await rig.clock.advance(GRACE_MS - 1)
    await rig.stream('/v1/events?session=s')
    await pass(rig.engine, rig.clock, 10 * GRACE_MS)
    expect(await holders(rig.engine)).toEqual(['a'])
  })

  it('does not renew the leases of its holds', async () => {
    await rig.stream('/v1/events?session=s')
    await rig.acquire('a', { session: 's', ttl_ms: 10_000 })
    await rig.clock.advance(10_000)
    expect(await holders(rig.engine)).toEqual([])
  })

  it('ends with a spoken good-bye', async () => {
    const stream = await rig.stream('/v1/events?session=s')
    await rig.acquire('a', { session: 's' })
    await rig.call('/v1/sessions/s', { method: 'DELETE' })
    expect(await holders(rig.engine)).toEqual([])
    await rig.clock.advance(GRACE_MS)
    await stream.ended
  })
})
