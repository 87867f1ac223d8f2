import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OperationsRig } from './operations-rig.ts'

let rig: OperationsRig

beforeEach(async () => {
  rig = await OperationsRig.open()
})

afterEach(() => rig.close())

async function untilSessions(count: number): Promise<void> {
  while ((await rig.engine.read({ kind: 'stats' })).sessions !== count) {
    await rig.get('/refs?resource_id=x')
  }
}

describe('a session over a stream', () => {
  it('is there when the stream is open, and lives while it is', async () => {
    await rig.subscribe({ session: 's1' })
    const { body } = await rig.lock({ node_id: 'node-a', session: 's1' })
    expect(body).toMatchObject({ acquired: true })
    await rig.advance(30 * 60_000)
    expect((await rig.poll('node-a')).body).toMatchObject({ acquired: true })
    expect((await rig.engine.read({ kind: 'stats' })).sessions).toBe(1)
  })

  it('ends a grace after its stream closed: its holds as failed, its waiters leave', async () => {
    const stream = await rig.subscribe({ session: 's1' })
    await rig.lock({ node_id: 'node-a', session: 's1' })
    await rig.lock({ resource_id: 'other', node_id: 'node-x' })
    await rig.lock({ resource_id: 'other', node_id: 'node-a', session: 's1' })
    await rig.lock({ node_id: 'node-b' })
    const listener = await rig.subscribe({ node_id: 'node-b' })
    stream.close()
    await rig.roundTrips()
    await rig.advance(4_999)
    expect((await rig.poll('node-b')).body).toMatchObject({ acquired: false })
    await rig.advance(1)
    const [event] = await listener.untilEvents(1)
    expect(event).toMatchObject({ node_id: 'node-b', granted: true })
    const other = await rig.get('/lock/status?type=pull&resource_id=other')
    expect(other.body).toMatchObject({ holder: 'node-x', queue: [] })
  })

  it('loses nothing when its client comes back in time', async () => {
    const stream = await rig.subscribe({ session: 's1' })
    await rig.lock({ node_id: 'node-a', session: 's1' })
    stream.close()
    await rig.roundTrips()
    await rig.advance(4_000)
    await rig.subscribe({ session: 's1' })
    await rig.advance(60_000)
    expect((await rig.poll('node-a')).body).toMatchObject({ acquired: true })
  })

  it('lives while any of its streams is open', async () => {
    const first = await rig.subscribe({ session: 's1' })
    await rig.subscribe({ session: 's1', resource_id: 'other' })
    await rig.lock({ node_id: 'node-a', session: 's1' })
    first.close()
    await rig.roundTrips()
    await rig.advance(60_000)
    expect((await rig.poll('node-a')).body).toMatchObject({ acquired: true })
  })

  it('keeps the place of a waiter without a word from it', async () => {
    await rig.subscribe({ session: 's1' })
    await rig.lock({ node_id: 'node-x' })
    await rig.lock({ node_id: 'node-a', session: 's1' })
    await rig.advance(30 * 60_000)
    await rig.unlock({ node_id: 'node-x', error: 'no' })
    expect((await rig.poll('node-a')).body).toMatchObject({ acquired: true })
  })

  it('does not renew the leases of its holds', async () => {
    await rig.subscribe({ session: 's1' })
    await rig.lock({ node_id: 'node-a', session: 's1', ttl_ms: 10_000 })
    await rig.advance(10_000)
    expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ acquired: true })
  })

  it('ends its streams when it was ended by a spoken good-bye', async () => {
    const stream = await rig.subscribe({ session: 's1' })
    await rig.engine.apply({ kind: 'close-session', session: 's1' })
    await untilSessions(0)
    await rig.advance(5_000)
    await stream.untilOver()
  })
})
