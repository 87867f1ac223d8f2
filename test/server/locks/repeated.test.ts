import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LockRig, openRig } from './lock-rig.ts'

let rig: LockRig

beforeEach(async () => {
  rig = await openRig()
})

afterEach(() => rig.close())

const keyed = (key: string): { headers: Record<string, string> } => ({
  headers: { 'idempotency-key': key },
})

it('a request that is sent again with its key is answered the same and done once', async () => {
  const terms = { method: 'PUT', body: { grace_ms: 5_000 }, ...keyed('one') }
  const first = await rig.call('/v1/sessions/s', terms)
  const again = await rig.call('/v1/sessions/s', terms)
  expect(first.body).toEqual({ outcome: 'session-opened', resumed: false })
  expect(again.body).toEqual(first.body)
  const other = await rig.call('/v1/sessions/s', { ...terms, ...keyed('two') })
  expect(other.body).toMatchObject({ resumed: true })
})

it('a key that was used for another request is refused', async () => {
  await rig.call('/v1/unref', { body: { node: 'n' }, ...keyed('one') })
  const { status } = await rig.call('/v1/unref', { body: { node: 'm' }, ...keyed('one') })
  expect(status).toBe(422)
})

it('a key is remembered for a minute', async () => {
  await rig.acquire('a', { ttl_ms: 3_600_000 })
  const force = { method: 'DELETE', ...keyed('one') }
  expect((await rig.call('/v1/locks/k', force)).body).toMatchObject({ forced: 1 })
  await rig.clock.advance(59_000)
  expect((await rig.call('/v1/locks/k', force)).body).toMatchObject({ forced: 1 })
  await rig.clock.advance(2_000)
  expect((await rig.call('/v1/locks/k', force)).body).toMatchObject({ forced: 0 })
})

it('a request that failed may be sent again with the same key', async () => {
  const options = { body: { key: 'k', owner: 'a', ttl_ms: 1 }, ...keyed('one') }
  expect((await rig.call('/v1/renew', options)).status).toBe(400)
  expect((await rig.call('/v1/renew', options)).status).toBe(400)
})

it('an acquire that is sent again with its request id has one hold with one step', async () => {
  const first = await rig.acquire('a', { request_id: '1' })
  expect((await rig.acquire('a', { request_id: '1' })).body).toEqual(first.body)
  const release = { key: 'k', owner: 'a', request_id: 'r' }
  const released = await rig.post('/v1/release', release)
  expect((await rig.post('/v1/release', release)).body).toEqual(released.body)
})

it('a refusal that is asked for again says all that it said at first', async () => {
  await rig.acquire('a', { ttl_ms: 3_600_000 })
  const refused = await rig.acquire('b', { request_id: '1' })
  expect(refused.body['holders']).toHaveLength(1)
  expect(await rig.acquire('b', { request_id: '1' })).toMatchObject({
    status: 409,
    body: refused.body,
  })
})

it('so does one whose wait would close a circle', async ({ skip }) => {
  skip(!rig.engine.capabilities.seesDeadlocks, 'this engine sees no deadlocks')
  await rig.acquire('a', { ttl_ms: 3_600_000 })
  await rig.acquire('b', { key: 'other' })
  await rig.wait('b', { wait_ms: 'forever' })
  const circle = { key: 'other', wait_ms: 1_000, request_id: '2' }
  const doomed = await rig.acquire('a', circle)
  expect(doomed.body['cycle']).toEqual(['a', 'b'])
  expect((await rig.acquire('a', circle)).body).toEqual(doomed.body)
})
