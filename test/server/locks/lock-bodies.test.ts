import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../../src/server/observe/audit-log.ts'
import { type LockRig, openRig } from './lock-rig.ts'

/** Where the virtual clock stands, as people read it. */
const SINCE = '2030-01-01T00:00:00.000Z'

let rig: LockRig
const audited: AuditEntry[] = []

beforeEach(async () => {
  audited.length = 0
  rig = await openRig({ audit: (entry) => void audited.push(entry) })
})

afterEach(() => rig.close())

const GRANTED_A = {
  outcome: 'granted',
  key: 'k',
  owner: 'a',
  mode: 'write',
  token: 1,
  reads: 0,
  writes: 1,
  lease_ms: 30_000,
}

const HELD_BY_A = { owner: 'a', mode: 'write', token: 1, held_ms: 0, lease_ms: 30_000 }

describe('an acquire', () => {
  it('of a free lock is granted with its token, lease and counts', async () => {
    const { status, body } = await rig.acquire('a')
    expect([status, body]).toEqual([200, GRANTED_A])
  })

  it('of a held lock is refused with who holds it', async () => {
    await rig.acquire('a')
    const { status, body } = await rig.acquire('b')
    expect([status, body]).toEqual([
      409,
      {
        outcome: 'refused',
        code: 'held',
        holders: [HELD_BY_A],
        error: 'it is held by a, or others are ahead in its queue',
      },
    ])
  })

  it('that detaches is answered with its place, and keeps it by asking again', async () => {
    await rig.acquire('a')
    for (let ask = 0; ask < 2; ask += 1) {
      const { status, body } = await rig.acquire('b', { wait_ms: 1_000, detach: true })
      expect([status, body]).toEqual([200, { outcome: 'queued', position: 1 }])
    }
    const { body } = await rig.acquire('b', { mode: 'read', wait_ms: 1_000, detach: true })
    expect(body).toEqual({ outcome: 'queued', position: 2 })
  })

  it('that waits is answered when the lock is released', async () => {
    await rig.acquire('a')
    const wait = await rig.wait('b', { wait_ms: 'forever' })
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    expect(await wait.answer).toEqual({
      status: 200,
      body: { ...GRANTED_A, owner: 'b', token: 2 },
    })
  })

  it('that waits too long is refused with who holds it', async () => {
    await rig.acquire('a')
    const wait = await rig.wait('b', { wait_ms: 500 })
    await rig.clock.advance(500)
    expect(await wait.answer).toEqual({
      status: 409,
      body: {
        outcome: 'refused',
        code: 'timeout',
        holders: [{ ...HELD_BY_A, held_ms: 500, lease_ms: 29_500 }],
        error: 'the wait is over; it is held by a',
      },
    })
  })

  it('that two readers make to become the writer is refused to the second', async () => {
    await rig.acquire('a', { mode: 'read' })
    await rig.acquire('b', { mode: 'read' })
    await rig.wait('a', { wait_ms: 'forever' })
    const { status, body } = await rig.acquire('b', { wait_ms: 1_000 })
    expect([status, body['code']]).toEqual([409, 'upgrade_conflict'])
  })

  it('that would close a circle is refused with the circle', async ({ skip }) => {
    skip(!rig.engine.capabilities.seesDeadlocks, 'this engine sees no deadlocks')
    await rig.acquire('a', { key: 'one' })
    await rig.acquire('b')
    await rig.wait('a', { wait_ms: 'forever' })
    const { status, body } = await rig.acquire('b', { key: 'one', wait_ms: 1_000 })
    expect([status, body['code'], body['cycle']]).toEqual([409, 'deadlock', ['b', 'a']])
  })
})

describe('a holder', () => {
  beforeEach(() => rig.acquire('a'))

  it('releases', async () => {
    const { status, body } = await rig.post('/v1/release', { key: 'k', owner: 'a', token: 1 })
    expect([status, body]).toEqual([
      200,
      { outcome: 'released', released: true, reads: 0, writes: 0 },
    ])
  })

  it('renews', async () => {
    const renewal = { key: 'k', owner: 'a', ttl_ms: 60_000 }
    const { status, body } = await rig.post('/v1/renew', renewal)
    expect([status, body]).toEqual([
      200,
      { outcome: 'renewed', renewed: true, token: 1, lease_ms: 60_000 },
    ])
  })

  it('is told that its token is stale', async () => {
    const { status, body } = await rig.post('/v1/release', { key: 'k', owner: 'a', token: 0 })
    expect([status, body]).toEqual([
      403,
      {
        outcome: 'refused',
        released: false,
        code: 'stale_token',
        error: 'you hold it under another token',
      },
    ])
  })

  it('is not somebody else', async () => {
    const { status, body } = await rig.post('/v1/renew', { key: 'k', owner: 'b', ttl_ms: 1_000 })
    expect([status, body]).toEqual([
      403,
      { outcome: 'refused', renewed: false, code: 'not_holder', error: 'you do not hold it' },
    ])
  })
})

it('a cancel says whether there was anything to cancel', async () => {
  await rig.acquire('a')
  await rig.acquire('b', { request_id: '1', wait_ms: 1_000, detach: true })
  const cancel = { key: 'k', owner: 'b', request_id: '1' }
  expect((await rig.post('/v1/cancel', cancel)).body).toEqual({
    outcome: 'cancelled',
    cancelled: true,
  })
  expect((await rig.post('/v1/cancel', cancel)).body).toEqual({
    outcome: 'cancelled',
    cancelled: false,
  })
})

describe('a lock', () => {
  it('that is free is shown with empty lists', async () => {
    const { status, body } = await rig.call('/v1/locks/a%2Fb')
    expect([status, body]).toEqual([
      200,
      { kind: 'lock', key: 'a/b', token: null, holders: [], queue: [], queue_length: 0 },
    ])
  })

  it('is shown with who holds it and who waits', async () => {
    await rig.acquire('a', { meta: { host: 'h1', camelCase: [1] } })
    await rig.acquire('b', { request_id: '1', wait_ms: 60_000, detach: true })
    await rig.clock.advance(1_000)
    const { body } = await rig.call('/v1/locks/k')
    expect(body).toEqual({
      kind: 'lock',
      key: 'k',
      token: 1,
      holders: [
        {
          owner: 'a',
          mode: 'write',
          reads: 0,
          writes: 1,
          token: 1,
          held_ms: 1_000,
          lease_ms: 29_000,
          since: SINCE,
          meta: { host: 'h1', camelCase: [1] },
        },
      ],
      queue: [
        {
          owner: 'b',
          request_id: '1',
          mode: 'write',
          position: 1,
          waited_ms: 1_000,
          upgrade: false,
          since: SINCE,
        },
      ],
      queue_length: 1,
    })
    const { body: standing } = await rig.call('/v1/locks/k/standing?owner=b')
    expect(standing).toMatchObject({ holder: null, waiting: [{ request_id: '1', position: 1 }] })
  })

  it('is listed beside operations, page by page', async () => {
    for (const key of ['a/1', 'a/2', 'b']) await rig.acquire('o', { key })
    await rig.post('/v1/begin', { type: 'pull', resource: 'a/1', node: 'n' })
    const first = await rig.call('/v1/locks?prefix=a%2F&limit=2')
    const shown = first.body['locks'] as { kind: string; key: string }[]
    expect(shown.map(({ kind, key }) => [kind, key])).toEqual([
      ['lock', 'a/1'],
      ['operation', 'a/1'],
    ])
    const cursor = encodeURIComponent(first.body['cursor'] as string)
    const second = await rig.call(`/v1/locks?prefix=a%2F&limit=2&cursor=${cursor}`)
    expect(second.body).toMatchObject({ locks: [{ key: 'a/2' }], cursor: null })
    const owned = await rig.call('/v1/locks?owner=pull:n&kind=operation')
    expect(owned.body['locks']).toHaveLength(1)
  })

  it('is taken from its holders by an operator, which is on record', async () => {
    await rig.acquire('a', { mode: 'read' })
    await rig.acquire('b', { mode: 'read' })
    const one = await rig.call('/v1/locks/k?owner=a', { method: 'DELETE' })
    expect([one.status, one.body]).toEqual([200, { outcome: 'forced', forced: 1 }])
    await rig.post('/v1/begin', { type: 'pull', resource: 'k', node: 'n' })
    const operation = await rig.call('/v1/locks/k?kind=operation', { method: 'DELETE' })
    expect(operation.body).toEqual({ outcome: 'forced', forced: 1 })
    expect(audited).toMatchObject([
      { action: 'force', kind: 'lock', key: 'k', owner: 'a', count: 1 },
      { action: 'force', kind: 'operation', key: 'k', owner: undefined, count: 1 },
    ])
  })

  it('has a history of its holds', async () => {
    await rig.acquire('a')
    await rig.clock.advance(2_000)
    await rig.post('/v1/release', { key: 'k', owner: 'a' })
    const { body } = await rig.call('/v1/history?key=k&limit=10')
    expect(body).toEqual({
      history: [
        {
          kind: 'lock',
          key: 'k',
          owner: 'a',
          mode: 'write',
          token: 1,
          end: 'released',
          from: SINCE,
          to: '2030-01-01T00:00:02.000Z',
        },
      ],
    })
  })
})

describe('the contract over HTTP', () => {
  it('has operations in the words of the law', async () => {
    const pull = { type: 'pull', resource: 'r', node: 'm' }
    const begun = await rig.post('/v1/begin', pull)
    expect(begun.body).toMatchObject({ outcome: 'granted', ...pull, token: 1 })
    const done = await rig.post('/v1/finish', { ...pull, success: true, value: { layers: [1] } })
    expect([done.status, done.body]).toEqual([200, { outcome: 'finished', success: true }])
    const skipped = await rig.post('/v1/begin', { ...pull, node: 'n' })
    expect(skipped.body).toEqual({ outcome: 'skip', value: { layers: [1] } })
    const { body: references } = await rig.call('/v1/references?resource=r')
    expect(references).toEqual({ resource: 'r', count: 2, nodes: ['m', 'n'], unclaimed: [] })
    const { body: shown } = await rig.call('/v1/locks/r?kind=operation')
    expect(shown).toMatchObject({
      references: ['m', 'n'],
      remembered: [{ type: 'pull', node: 'm', value: { layers: [1] }, skips: true, ago_ms: 0 }],
    })
    const dropped = await rig.post('/v1/unref', { resource: 'r', node: 'n' })
    expect(dropped.body).toEqual({ outcome: 'unreferenced', removed: 1, count: 1 })
    const withdrawn = await rig.post('/v1/withdraw', pull)
    expect(withdrawn.body).toEqual({ outcome: 'cancelled', cancelled: false })
  })

  it('has sessions by name', async () => {
    const terms = { grace_ms: 5_000, keeps_leases: false }
    const opened = await rig.call('/v1/sessions/s%2F1', { method: 'PUT', body: terms })
    expect([opened.status, opened.body]).toEqual([
      200,
      { outcome: 'session-opened', resumed: false },
    ])
    await rig.acquire('a', { session: 's/1' })
    const touched = await rig.call('/v1/sessions/s%2F1', { method: 'POST', body: {} })
    expect(touched.body).toEqual({ outcome: 'session-touched' })
    const closed = await rig.call('/v1/sessions/s%2F1', { method: 'DELETE' })
    expect(closed.body).toEqual({ outcome: 'session-closed', ended: 1 })
    const gone = await rig.call('/v1/sessions/s%2F1', { method: 'POST', body: {} })
    expect([gone.status, gone.body['code']]).toEqual([404, 'no_session'])
  })

  it('sweeps, counts, and says what the engine promises', async () => {
    await rig.acquire('a')
    const { body: stats } = await rig.call('/v1/stats')
    expect(stats).toMatchObject({ keys: 1, holds: 1, waiters: 0, sessions: 0, references: 0 })
    const { body: swept } = await rig.call('/v1/sweep', { method: 'POST', body: {} })
    expect(swept).toEqual({ outcome: 'swept', count: 0 })
    const { body: capabilities } = await rig.call('/v1/capabilities')
    const { durable, seesDeadlocks } = rig.engine.capabilities
    expect(capabilities).toMatchObject({ durable, sees_deadlocks: seesDeadlocks, ttl_ms_min: 100 })
  })
})
