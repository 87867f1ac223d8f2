import { afterEach, describe, expect, it } from 'vitest'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import { EventLines } from './event-lines.ts'
import { OperationsRig } from './operations-rig.ts'

let rig: OperationsRig

afterEach(() => rig.close())

async function open(settings: Partial<LawSettings> = {}): Promise<void> {
  rig = await OperationsRig.open(settings)
}

/** A success or failure of one node after another has asked. */
async function run(node: string, error = ''): Promise<void> {
  await rig.lock({ node_id: node })
  await rig.unlock({ node_id: node, error })
}

const SUCCESS_OF_A = {
  type: 'pull',
  resource_id: 'layer',
  node_id: 'node-a',
  success: true,
  error: '',
  completed_at: '2030-01-01T00:00:00.000Z',
}

const GRANT_TO_B = {
  type: 'pull',
  resource_id: 'layer',
  node_id: 'node-b',
  success: false,
  error: '',
  granted: true,
  token: expect.any(Number),
  completed_at: '2030-01-01T00:00:00.000Z',
}

describe('a stream of operations', () => {
  it.each(['/lock/subscribe', '/subscribe'])(
    'at %s tells of a success with an id line and a data line',
    async (path) => {
      await open()
      const stream = await EventLines.open(`${rig.url}${path}?type=pull&resource_id=layer`)
      expect(stream.contentType).toMatch(/^text\/event-stream/)
      await run('node-a')
      await stream.until(() => stream.lines.length >= 6)
      stream.close()
      // The grant to the node that found it free, then its success.
      expect(stream.lines[3]).toMatch(/^id: ./)
      expect(stream.lines[4]).toMatch(/^data: \{/)
      expect(stream.lines[5]).toBe('')
      expect(stream.events[1]).toEqual(SUCCESS_OF_A)
    },
  )

  it('tells the node to which a failure handed the lock, and nothing of the failure', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const stream = await rig.subscribe()
    await rig.unlock({ node_id: 'node-a', error: 'disk full' })
    expect(await stream.untilEvents(1)).toEqual([GRANT_TO_B])
    const again = await rig.lock({ node_id: 'node-b' })
    expect(again.body).toMatchObject({ acquired: true, token: stream.events[0]?.['token'] })
  })

  it('tells of a failure when nobody waits, and why it failed', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const stream = await rig.subscribe()
    await rig.unlock({ node_id: 'node-a', error: 'disk full' })
    const [event] = await stream.untilEvents(1)
    expect(event).toEqual({ ...SUCCESS_OF_A, success: false, error: 'disk full' })
  })

  it('gives a failure without a reason one, so that it is no grant', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const stream = await rig.subscribe()
    await rig.unlock({ node_id: 'node-a', success: false })
    const [event] = await stream.untilEvents(1)
    expect(event).toMatchObject({ success: false, error: expect.stringMatching(/./) })
  })

  it('tells of a lease that ran out as of a failure', async () => {
    await open()
    await rig.lock({ node_id: 'node-a', ttl_ms: 1_000 })
    const stream = await rig.subscribe()
    await rig.advance(1_000)
    const [event] = await stream.untilEvents(1)
    expect(event).toMatchObject({ node_id: 'node-a', success: false, error: 'expired' })
  })

  it('is about one type and one resource', async () => {
    await open()
    const stream = await rig.subscribe()
    for (const other of [{ type: 'update' }, { resource_id: 'other' }]) {
      await rig.lock({ node_id: 'node-x', ...other })
      await rig.unlock({ node_id: 'node-x', ...other })
    }
    await run('node-a')
    const events = await stream.untilEvents(2)
    expect(events.map((event) => event['node_id'])).toEqual(['node-a', 'node-a'])
  })

  it('tells a delete that waited and found nodes using the resource that it is refused', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ type: 'delete', node_id: 'node-b' })
    const stream = await rig.subscribe({ type: 'delete', node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a' })
    const [event] = await stream.untilEvents(1)
    expect(event).toMatchObject({ node_id: 'node-b', success: false, error: /using/ })
  })

  it('keeps a line far below 64 KiB, whatever the error and the names are', async () => {
    await open()
    const names = { resource_id: '\u{1f512}'.repeat(128), node_id: '"'.repeat(256) }
    await rig.lock(names)
    const stream = await rig.subscribe({ resource_id: names.resource_id })
    await rig.unlock({ ...names, error: '\u0001'.repeat(2_400) })
    await stream.untilEvents(1)
    for (const line of stream.lines) expect(Buffer.byteLength(line)).toBeLessThan(65_536)
  })

  it('has no line that a name could forge', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const stream = await rig.subscribe()
    await rig.unlock({ node_id: 'node-a', error: 'x\r\n\r\ndata: {"success":true}\n\n' })
    const [event] = await stream.untilEvents(1)
    expect(event).toMatchObject({ success: false })
    expect(stream.lines.filter((line) => line.startsWith('data:'))).toHaveLength(1)
  })
})

describe('a stream without a node', () => {
  it('first replays the success where asking would be answered skip', async () => {
    await open()
    await run('node-a')
    await rig.advance(4 * 60_000)
    const stream = await rig.subscribe()
    expect(await stream.untilEvents(1)).toEqual([SUCCESS_OF_A])
  })

  it('replays nothing after the success is forgotten', async () => {
    await open()
    await run('node-a')
    await rig.advance(5 * 60_000)
    const stream = await rig.subscribe()
    await run('node-b')
    // A database may have lost track of what happened in minutes that pass in a moment.
    const heard = () => stream.events.filter((event) => event['reset'] !== true)
    await stream.until(() => heard().length === 2)
    expect(heard().map((event) => event['node_id'])).toEqual(['node-b', 'node-b'])
  })

  it('replays nothing while a delete runs, because asking would queue', async () => {
    await open()
    await run('node-a')
    await rig.post('/unref', { resource_id: 'layer', node_id: 'node-a' })
    await rig.lock({ type: 'delete', node_id: 'node-d' })
    const stream = await rig.subscribe()
    await rig.unlock({ type: 'delete', node_id: 'node-d', error: 'no' })
    await run('node-b')
    await rig.advance(30_000)
    await stream.until(() => stream.comments.length > 0)
    expect(stream.events).toEqual([])
  })

  it('replays nothing of an update that nodes in use forbid', async () => {
    await open({ updateRequiresNoRef: true })
    await rig.lock({ type: 'update', node_id: 'node-a' })
    await rig.unlock({ type: 'update', node_id: 'node-a' })
    await run('node-b')
    const stream = await rig.subscribe({ type: 'update' })
    await rig.advance(30_000)
    await stream.until(() => stream.comments.length > 0)
    expect(stream.events).toEqual([])
  })

  it('replays the kept success where clients coordinate, while the resource is free', async () => {
    await open({ coordination: 'client' })
    await run('node-a')
    const free = await rig.subscribe()
    expect(await free.untilEvents(1)).toEqual([SUCCESS_OF_A])
    await rig.lock({ node_id: 'node-b' })
    const busy = await rig.subscribe()
    await rig.unlock({ node_id: 'node-b', error: 'no' })
    const [first] = await busy.untilEvents(1)
    expect(first).toMatchObject({ node_id: 'node-b', success: false })
  })

  it('replays no success that a delete has undone since, where clients coordinate', async () => {
    await open({ coordination: 'client' })
    await run('node-a')
    await rig.advance(1_000)
    await rig.lock({ type: 'delete', node_id: 'node-d' })
    await rig.unlock({ type: 'delete', node_id: 'node-d' })
    const stream = await rig.subscribe()
    await rig.advance(30_000)
    await stream.until(() => stream.comments.length > 0)
    expect(stream.events).toEqual([])
  })

  it('replays nothing in a mutex', async () => {
    await open({ coordination: 'mutex' })
    await run('node-a')
    const stream = await rig.subscribe()
    await rig.advance(30_000)
    await stream.until(() => stream.comments.length > 0)
    expect(stream.events).toEqual([])
  })

  it('is told a second later of a grant that came between asking and listening', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    const stream = await rig.subscribe()
    await rig.advance(999)
    expect(stream.events).toEqual([])
    await rig.advance(1)
    expect(await stream.untilEvents(1)).toEqual([GRANT_TO_B])
  })

  it.each([
    ['asked', () => rig.lock({ node_id: 'node-b' })],
    ['polled', () => rig.poll('node-b')],
  ])('is not told of a grant whose node has %s since', async (_, claim) => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    const stream = await rig.subscribe()
    await claim()
    await rig.advance(30_000)
    await stream.until(() => stream.comments.length > 0)
    expect(stream.events).toEqual([])
  })

  it('gets a comment every 30 s and not more often', async () => {
    await open()
    const stream = await rig.subscribe()
    await rig.advance(29_999)
    expect(stream.lines).toEqual([])
    await rig.advance(1)
    await stream.until(() => stream.comments.length === 1)
    await rig.advance(29_999)
    expect(stream.comments).toHaveLength(1)
    await rig.advance(1)
    await stream.until(() => stream.comments.length === 2)
  })
})

describe('a stream with a node', () => {
  it('first tells of a grant that came between asking and listening', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    const stream = await rig.subscribe({ node_id: 'node-b' })
    expect(await stream.untilEvents(1)).toEqual([GRANT_TO_B])
  })

  it('first tells a waiting node its place, in a comment', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const stream = await rig.subscribe({ node_id: 'node-b' })
    await stream.until(() => stream.lines.length > 0)
    expect(stream.lines[0]).toBe(': waiting, position 1')
  })

  it('replays the success to a node that would skip', async () => {
    await open()
    await run('node-a')
    const stream = await rig.subscribe({ node_id: 'node-b' })
    expect(await stream.untilEvents(1)).toEqual([SUCCESS_OF_A])
  })

  it('replays a success of any version: the listener names none', async () => {
    await open()
    await rig.lock({ node_id: 'node-a', version: '7' })
    await rig.unlock({ node_id: 'node-a' })
    const stream = await rig.subscribe({ node_id: 'node-b' })
    expect(await stream.untilEvents(1)).toEqual([SUCCESS_OF_A])
  })

  it('does not hear of the grants of others', async () => {
    await open({ coordination: 'mutex' })
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.lock({ node_id: 'node-c' })
    const stream = await rig.subscribe({ node_id: 'node-c' })
    await rig.unlock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-b' })
    const [event] = await stream.untilEvents(1)
    expect(event).toMatchObject({ node_id: 'node-c', granted: true })
  })

  it.each([{ node_id: 'node-a' }, { session: 's1' }])(
    'or a session gets a comment every second or two: %o',
    async (query) => {
      await open()
      const stream = await rig.subscribe(query)
      await rig.advance(2_000)
      await stream.until(() => stream.comments.length === 1)
      await rig.advance(10_000)
      await stream.until(() => stream.comments.length >= 6)
    },
  )

  it.each([undefined, '7'])(
    'keeps the place of its node while open, version %s',
    async (version) => {
      await open()
      await rig.lock({ node_id: 'node-a' })
      await rig.lock({ node_id: 'node-b', version })
      const stream = await rig.subscribe({ node_id: 'node-b' })
      await rig.advance(30 * 60_000)
      await rig.unlock({ node_id: 'node-a', error: 'no' })
      await stream.until(() => stream.events.some((event) => event['granted'] === true))
      // A database may have lost track of what happened in half an hour that passes in a moment.
      const heard = stream.events.filter((event) => event['reset'] !== true)
      expect(heard).toMatchObject([{ node_id: 'node-b', granted: true }])
    },
  )

  it('claims nothing for its node: a grant that is not taken goes to the next', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const stream = await rig.subscribe({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    await stream.untilEvents(1)
    await rig.lock({ node_id: 'node-c' })
    await rig.advance(10_000)
    expect((await rig.lock({ node_id: 'node-c' })).body).toMatchObject({ acquired: true })
  })
})

describe('a stream that comes back', () => {
  it('hears what it missed', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    const first = await rig.subscribe({ type: 'update' })
    await rig.lock({ type: 'update', node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-a', error: 'no' })
    await first.untilEvents(1)
    const id = first.lines.find((line) => line.startsWith('id: '))?.slice('id: '.length) ?? ''
    first.close()
    await rig.unlock({ type: 'update', node_id: 'node-b', error: 'not this time' })
    const second = await rig.subscribe({ type: 'update' }, { 'last-event-id': id })
    const events = await second.untilEvents(1)
    expect(second.lines).not.toContain('event: reset')
    expect(events).toMatchObject([{ node_id: 'node-b', success: false, error: 'not this time' }])
  })

  it.each(['', 'of-another-server-7', 'nonsense'])(
    'under an id that is not known (%j) is told so, and how things stand',
    async (id) => {
      await open()
      await rig.lock({ node_id: 'node-a' })
      await rig.lock({ node_id: 'node-b' })
      await rig.unlock({ node_id: 'node-a', error: 'no' })
      const stream = await rig.subscribe({ node_id: 'node-b' }, { 'last-event-id': id })
      const [reset, grant] = await stream.untilEvents(2)
      expect(stream.lines[1]).toBe('event: reset')
      expect(reset).toMatchObject({ type: 'pull', resource_id: 'layer', success: false, error: '' })
      expect(grant).toEqual(GRANT_TO_B)
    },
  )
})

describe('how operations end', () => {
  it('is told as a success to all where the server coordinates, and its waiters skip', async () => {
    await open()
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const streams = [await rig.subscribe(), await rig.subscribe({ node_id: 'node-b' })]
    await rig.unlock({ node_id: 'node-a' })
    for (const stream of streams) expect(await stream.untilEvents(1)).toEqual([SUCCESS_OF_A])
    expect((await rig.lock({ node_id: 'node-b' })).body).toMatchObject({ skip: true })
  })

  it('is told as a success to all where clients coordinate, and the queue dissolves', async () => {
    await open({ coordination: 'client' })
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const streams = [await rig.subscribe(), await rig.subscribe({ node_id: 'node-b' })]
    await rig.unlock({ node_id: 'node-a' })
    for (const stream of streams) expect(await stream.untilEvents(1)).toEqual([SUCCESS_OF_A])
    expect((await rig.lock({ node_id: 'node-c' })).body).toMatchObject({ acquired: true })
  })

  it('is told as the grant only where a mutex hands the lock on', async () => {
    await open({ coordination: 'mutex' })
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const stream = await rig.subscribe()
    await rig.unlock({ node_id: 'node-a' })
    expect(await stream.untilEvents(1)).toEqual([GRANT_TO_B])
    await rig.lock({ node_id: 'node-b' })
    await rig.unlock({ node_id: 'node-b' })
    const events = await stream.untilEvents(2)
    expect(events[1]).toMatchObject({ node_id: 'node-b', success: true })
  })
})
