import { afterEach, describe, expect, it } from 'vitest'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import { OperationsRig } from './operations-rig.ts'

let rig: OperationsRig

afterEach(() => rig.close())

async function open(settings: Partial<LawSettings> = {}): Promise<void> {
  rig = await OperationsRig.open(settings)
}

const show = async (): Promise<unknown> =>
  (await rig.get('/lock/status?type=pull&resource_id=layer')).body

const FREE = {
  held: false,
  holder: null,
  type: null,
  token: null,
  since: null,
  completed: false,
  success: false,
  queue: [],
  refs: { count: 0, nodes: [] },
}

describe('GET /lock/status', () => {
  it('shows a resource that nobody knows as free', async () => {
    await open()
    expect(await show()).toEqual(FREE)
  })

  it('shows who holds it since when, who waits, and who uses it', async () => {
    await open()
    await rig.lock({ node_id: 'node-0' })
    await rig.unlock({ node_id: 'node-0' })
    const { body } = await rig.lock({ type: 'update', node_id: 'node-a' })
    await rig.lock({ type: 'update', node_id: 'node-b' })
    await rig.lock({ type: 'fsck', node_id: 'node-c' })
    await rig.advance(1_000)
    expect(await show()).toEqual({
      held: true,
      holder: 'node-a',
      type: 'update',
      token: body['token'],
      since: '2030-01-01T00:00:00.000Z',
      completed: true,
      success: true,
      queue: [
        { node_id: 'node-b', type: 'update', position: 1 },
        { node_id: 'node-c', type: 'fsck', position: 2 },
      ],
      refs: { count: 1, nodes: ['node-0'] },
    })
  })

  it('shows what is done as completed with success', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a' })
    const refs = { count: 1, nodes: ['node-a'] }
    expect(await show()).toEqual({ ...FREE, completed: true, success: true, refs })
  })

  it.each(['client', 'mutex'] as const)(
    'shows nothing as done in coordination %s, where asking is never answered skip',
    async (coordination) => {
      await open({ coordination })
      await rig.lock({ node_id: 'node-a' })
      await rig.unlock({ node_id: 'node-a' })
      expect(await show()).toEqual(FREE)
      expect((await rig.poll('node-b')).body).toMatchObject({ completed: true, success: false })
      expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ acquired: true })
    },
  )

  it('shows a pull as not done while a delete runs, because what was done vanishes', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a' })
    await rig.post('/unref', { resource_id: 'layer', node_id: 'node-a' })
    await rig.lock({ type: 'delete', node_id: 'node-d' })
    expect(await show()).toMatchObject({ type: 'delete', completed: false, success: false })
  })

  it('changes nothing: a grant is not claimed by somebody who looks', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    await rig.advance(9_999)
    expect(await show()).toMatchObject({ holder: 'node-b' })
    await rig.advance(1)
    expect(await show()).toMatchObject({ held: false })
  })
})

describe('POST /lock/status', () => {
  it('asks about what the node has and waits for, whatever its version', async () => {
    await open()
    await rig.lock({ node_id: 'node-a', version: '7' })
    await rig.lock({ node_id: 'node-b', version: '8' })
    expect((await rig.poll('node-a')).body).toMatchObject({ acquired: true, completed: false })
    expect((await rig.poll('node-b')).body).toMatchObject({ acquired: false, completed: false })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    await rig.advance(9_000)
    expect((await rig.poll('node-b')).body).toMatchObject({ acquired: true, completed: false })
    await rig.advance(9_000)
    expect(await show()).toMatchObject({ holder: 'node-b' })
  })

  it('asks about a success of the version that it names', async () => {
    await open()
    await rig.lock({ node_id: 'node-a', version: '7' })
    await rig.unlock({ node_id: 'node-a' })
    const skip = { acquired: false, completed: true, success: true }
    const over = { acquired: false, completed: true, success: false }
    expect((await rig.poll('node-b', { version: '7' })).body).toMatchObject(skip)
    expect((await rig.poll('node-c', { version: '8' })).body).toMatchObject(over)
    expect((await rig.poll('node-c')).body).toMatchObject(over)
    expect((await rig.get('/refs?resource_id=layer')).body).toMatchObject({
      nodes: ['node-a', 'node-b'],
    })
  })

  it('adds the point of view of one node', async () => {
    await open()
    const { body } = await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const shown = {
      held: true,
      holder: 'node-a',
      type: 'pull',
      token: body['token'],
      since: '2030-01-01T00:00:00.000Z',
      queue: [{ node_id: 'node-b', type: 'pull', position: 1 }],
      refs: { count: 0, nodes: [] },
    }
    const over = { completed: false, success: false }
    expect((await rig.poll('node-a')).body).toEqual({ ...shown, ...over, acquired: true })
    expect((await rig.poll('node-b')).body).toEqual({ ...shown, ...over, acquired: false })
  })

  it('tells a node without standing and with nothing to skip that it is over without success', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    expect((await rig.poll('node-b')).body).toMatchObject({
      acquired: false,
      completed: true,
      success: false,
    })
  })

  it('puts nobody into the queue', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.poll('node-b')
    expect(await show()).toMatchObject({ queue: [] })
  })

  it('tells a pull to ask again while a delete runs, because what it would skip vanishes', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a' })
    await rig.post('/unref', { resource_id: 'layer', node_id: 'node-a' })
    await rig.lock({ type: 'delete', node_id: 'node-d' })
    expect((await rig.poll('node-b')).body).toMatchObject({ completed: true, success: false })
  })

  it('counts a reference for a node that is told to skip a pull', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.unlock({ node_id: 'node-a' })
    expect((await rig.poll('node-b')).body).toMatchObject({
      completed: true,
      success: true,
      refs: { count: 2, nodes: ['node-a', 'node-b'] },
    })
  })
})

describe('references', () => {
  it('are the nodes that pulled, until they drop theirs', async () => {
    await open()
    for (const node of ['a', 'b']) {
      await rig.lock({ node_id: node })
      await rig.unlock({ node_id: node })
    }
    const { body } = await rig.get('/refs?resource_id=layer')
    expect(body).toEqual({ resource_id: 'layer', count: 2, nodes: ['a', 'b'] })
    const dropped = await rig.post('/unref', { resource_id: 'layer', node_id: 'a' })
    expect([dropped.status, dropped.body]).toEqual([200, { removed: true, count: 1 }])
    const again = await rig.post('/unref', { resource_id: 'layer', node_id: 'a' })
    expect([again.status, again.body]).toEqual([200, { removed: false, count: 1 }])
  })

  it('of a resource that nobody knows are none', async () => {
    await open()
    const { body } = await rig.get('/refs?resource_id=sha256%3Aabc')
    expect(body).toEqual({ resource_id: 'sha256:abc', count: 0, nodes: [] })
  })

  it('of a node that is gone are dropped together', async () => {
    await open()
    for (const resource of ['x', 'y', 'z']) {
      await rig.lock({ resource_id: resource, node_id: 'a' })
      await rig.unlock({ resource_id: resource, node_id: 'a' })
    }
    expect((await rig.post('/unref', { node_id: 'a' })).body).toEqual({ removed: 3 })
    expect((await rig.post('/unref', { resource_id: null, node_id: 'a' })).body).toEqual({
      removed: 0,
    })
  })

  it('are dropped so that a delete may run', async () => {
    await open()
    await rig.lock({ node_id: 'a' })
    await rig.unlock({ node_id: 'a' })
    expect((await rig.lock({ type: 'delete', node_id: 'd' })).status).toBe(403)
    await rig.post('/unref', { resource_id: 'layer', node_id: 'a' })
    expect((await rig.lock({ type: 'delete', node_id: 'd' })).body).toMatchObject({
      acquired: true,
    })
  })
})

/** Longer than a node may take to come for its answer. */
const PATIENCE_MS = 90_000

describe('the reference of a node that waits', () => {
  /** In an order of their own, because engines show them in different ones. */
  const nodes = async (): Promise<unknown> =>
    ((await rig.get('/refs?resource_id=layer')).body['nodes'] as string[]).toSorted()

  /** Node B waits, node A succeeds, and time enough passes for whatever node B does not claim. */
  async function skipInQueue(after: () => Promise<unknown>): Promise<void> {
    await rig.lock({ node_id: 'node-a', version: '7' })
    await rig.lock({ node_id: 'node-b', version: '7' })
    await rig.lock({ node_id: 'dead', version: '7' })
    await rig.unlock({ node_id: 'node-a' })
    await after()
    await rig.roundTrips()
    await rig.advance(PATIENCE_MS)
  }

  it('is lost when the node is not heard of', async () => {
    await open()
    await skipInQueue(() => Promise.resolve())
    expect(await nodes()).toEqual(['node-a'])
  })

  it.each([
    ['asks', () => rig.lock({ node_id: 'node-b', version: '7' })],
    ['polls', () => rig.poll('node-b', { version: '7' })],
    [
      'listens under its name',
      async () => (await rig.subscribe({ node_id: 'node-b' })).untilEvents(1),
    ],
  ])('stays when the node %s', async (_, claim) => {
    await open()
    await skipInQueue(claim)
    expect(await nodes()).toEqual(['node-a', 'node-b'])
  })

  it('stays when the node was listening under its name', async () => {
    await open()
    const stream = await rig.subscribe({ node_id: 'node-b' })
    await skipInQueue(() =>
      stream.until(() => stream.events.some(({ success }) => success === true)),
    )
    expect(await nodes()).toEqual(['node-a', 'node-b'])
  })

  it('stays when any stream without a name was told, which may be that of the node', async () => {
    await open()
    const stream = await rig.subscribe()
    await skipInQueue(() =>
      stream.until(() => stream.events.some(({ success }) => success === true)),
    )
    expect(await nodes()).toEqual(['dead', 'node-a', 'node-b'])
  })

  it('stays of a node that only listens as it was: none', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const stream = await rig.subscribe({ node_id: 'node-c' })
    await rig.unlock({ node_id: 'node-a' })
    await stream.until(() => stream.events.some(({ success }) => success === true))
    await rig.roundTrips()
    expect(await nodes()).toEqual(['node-a'])
  })

  it.each(['client', 'mutex'] as const)(
    'is never counted in coordination %s',
    async (coordination) => {
      await open({ coordination })
      const stream = await rig.subscribe({ node_id: 'node-b' })
      await skipInQueue(async () => void (await stream.untilEvents(1)))
      expect(await nodes()).toEqual([])
    },
  )
})
