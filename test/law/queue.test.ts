import { describe, expect, it } from 'vitest'
import type { Acquire } from '../../src/law/model/commands.ts'
import { LANE_PASSES_MAX } from '../../src/law/model/limits.ts'
import { LawStory } from './world/law-story.ts'

describe('the queue', () => {
  it('is served in the order of arrival', () => {
    const story = new LawStory()
    story.acquire('x')
    for (const owner of ['u', 'v', 'w']) story.wait(owner)
    for (const owner of ['x', 'u', 'v']) story.release(owner)
    expect(story.told.map(({ owner }) => owner)).toEqual(['u', 'v', 'w'])
    expect(story.told.map(({ answer }) => answer)).toMatchObject([
      { kind: 'granted', token: 2 },
      { kind: 'granted', token: 3 },
      { kind: 'granted', token: 4 },
    ])
  })

  it('grants the readers that stand together at the head together', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('r1', 'read')
    story.wait('r2', 'read')
    story.wait('w', 'write')
    story.wait('r3', 'read')
    story.release('x')
    expect(story.holders()).toEqual(['r1', 'r2'])
    expect(story.queue()).toEqual(['w', 'r3'])
  })

  it('grants a writer only when the last reader has gone', () => {
    const story = new LawStory()
    story.acquire('r1', 'read')
    story.acquire('r2', 'read')
    story.wait('w', 'write')
    story.release('r1')
    expect(story.holders()).toEqual(['r2'])
    story.release('r2')
    expect(story.holders()).toEqual(['w'])
  })

  it('starts each lease when it is granted', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { ttlMs: 1_000 })
    story.tick(20_000)
    story.release('x')
    expect(story.told).toMatchObject([{ owner: 'y', answer: { leaseMs: 1_000 } }])
  })

  it('moves when a waiter in the way leaves', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.wait('w', 'write')
    story.wait('y', 'read')
    story.cancel('w')
    expect(story.holders()).toEqual(['x', 'y'])
  })

  it('moves when a waiter in the way gives up', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.wait('w', 'write', { waitMs: 1_000 })
    story.wait('y', 'read')
    story.pass(1_000)
    expect(story.told).toMatchObject([
      { owner: 'w', answer: { kind: 'refused', code: 'timeout', holders: [{ owner: 'x' }] } },
      { owner: 'y', answer: { kind: 'granted' } },
    ])
  })

  it('decides the other requests of an owner again when it becomes a holder', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write')
    story.wait('z', 'write')
    story.wait('y', 'read')
    story.release('x')
    expect(story.state().holds).toMatchObject([{ owner: 'y', reads: 1, writes: 1, token: 2 }])
    expect(story.queue()).toEqual(['z'])
  })
})

describe('taking a grant', () => {
  const detached: Partial<Acquire> = { detach: true, requestId: 'i' }

  function createHandOver(settings = {}): LawStory {
    const story = new LawStory(settings)
    story.acquire('x')
    story.wait('y', 'write', detached)
    story.wait('z')
    story.release('x')
    return story
  }

  it('a waiter that only asks now and then has the claim window to take it', () => {
    const story = createHandOver()
    story.pass(9_999)
    expect(story.holders()).toEqual(['y'])
    story.pass(1)
    expect(story.holders()).toEqual(['z'])
    expect(story.wait('y', 'write', detached)).toMatchObject({ code: 'ended', end: 'unclaimed' })
  })

  it.each<[string, (story: LawStory) => unknown]>([
    ['asking again', (story) => story.wait('y', 'write', detached)],
    ['renewing', (story) => story.renew('y', 1_000)],
    ['asking for more', (story) => story.acquire('y', 'read')],
  ])('it takes its grant by %s', (_, take) => {
    const story = createHandOver()
    take(story)
    story.pass(10_000)
    expect(story.holders()).toEqual(['y'])
  })

  it('it takes all its grants by releasing one', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { detach: true, requestId: 'i' })
    story.wait('y', 'write', { detach: true, requestId: 'j' })
    story.release('x')
    story.release('y')
    story.pass(10_000)
    expect(story.state().holds).toMatchObject([{ owner: 'y', writes: 1 }])
  })

  it('a dead head costs at most its claim window, and not its lease', () => {
    const story = createHandOver({ claimWindowMs: 500 })
    story.pass(500)
    expect(story.told.at(-1)).toMatchObject({ owner: 'z', answer: { kind: 'granted' } })
  })

  it('a connected waiter is told and has no such limit', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    story.release('x')
    expect(story.state().holds[0]?.steps).toMatchObject([{ claimByMs: Infinity }])
    story.pass(20_000)
    expect(story.holders()).toEqual(['y'])
  })

  it('a grant in the answer to a request is taken at once', () => {
    const story = new LawStory()
    story.acquire('x')
    expect(story.state().holds[0]?.steps).toMatchObject([{ claimByMs: null }])
    expect(story.cancel('x')).toEqual({ kind: 'cancelled', cancelled: false })
    expect(story.holders()).toEqual(['x'])
  })

  it('an undone grant leaves the steps that were taken', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write', { detach: true })
    story.release('y')
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 1, writes: 1, token: 3 }])
    story.pass(10_000)
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 1, writes: 0, token: 1 }])
  })
})

describe('cancel', () => {
  it('leaves the queue, and whoever waited is told', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    expect(story.cancel('y')).toEqual({ kind: 'cancelled', cancelled: true })
    expect(story.told).toEqual([{ owner: 'y', answer: { kind: 'refused', code: 'cancelled' } }])
  })

  it('of one request leaves the others of its owner', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { requestId: 'i' })
    story.wait('y', 'read', { requestId: 'j' })
    story.cancel('y', 'i')
    expect(story.state().waiters).toMatchObject([{ requestId: 'j' }])
  })

  it('undoes a grant that was made in the queue and not taken, and the next is granted', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    story.wait('z')
    story.release('x')
    expect(story.cancel('y')).toEqual({ kind: 'cancelled', cancelled: true })
    expect(story.holders()).toEqual(['z'])
  })

  it('does not undo a grant that its owner has taken', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    story.release('x')
    story.renew('y', 1_000)
    expect(story.cancel('y')).toEqual({ kind: 'cancelled', cancelled: false })
    expect(story.holders()).toEqual(['y'])
  })
})

describe('patience', () => {
  it('a waiter that only asks now and then is gone when it has not asked for too long', () => {
    const story = new LawStory({ waiterPatienceMs: 1_000 })
    story.acquire('x')
    story.wait('y', 'write', { detach: true })
    story.pass(999)
    expect(story.queue()).toEqual(['y'])
    story.pass(1)
    expect(story.told).toMatchObject([{ owner: 'y', answer: { code: 'abandoned' } }])
  })

  it('asking again keeps the place, and the patience starts anew', () => {
    const story = new LawStory({ waiterPatienceMs: 1_000 })
    story.acquire('x')
    story.wait('y', 'write', { detach: true, requestId: 'i' })
    story.wait('z')
    story.tick(900)
    const again = story.wait('y', 'write', { detach: true, requestId: 'i' })
    expect(again).toEqual({ kind: 'queued', position: 1 })
    story.pass(900)
    expect(story.queue()).toEqual(['y', 'z'])
  })

  it('asking again without waiting does not make a waiter immortal', () => {
    const story = new LawStory({ waiterPatienceMs: 1_000 })
    story.acquire('x')
    story.wait('y', 'write', { detach: true, requestId: 'i' })
    story.acquire('y', 'write', { requestId: 'i' })
    story.pass(1_000)
    expect(story.queue()).toEqual([])
  })

  it('an open request waits for as long as whoever holds it open renews it', () => {
    const story = new LawStory({ openPatienceMs: 1_000 })
    story.acquire('x')
    story.wait('y')
    story.pass(1_000)
    expect(story.told).toMatchObject([{ owner: 'y', answer: { code: 'abandoned' } }])
  })
})

describe('lanes', () => {
  const settings = { lanes: ['high', 'middle', 'low'] }

  function inLane(lane: string): Partial<Acquire> {
    return { lane }
  }

  it('are served in their configured order, whoever came first', () => {
    const story = new LawStory(settings)
    story.acquire('x')
    story.wait('l', 'write', inLane('low'))
    story.wait('m', 'write', inLane('middle'))
    story.wait('h', 'write', inLane('high'))
    expect(story.queue()).toEqual(['h', 'm', 'l'])
    for (const owner of ['x', 'h', 'm']) story.release(owner)
    expect(story.told.map(({ owner }) => owner)).toEqual(['h', 'm', 'l'])
  })

  it('count in positions: whoever would be served before is ahead', () => {
    const story = new LawStory(settings)
    story.acquire('x')
    expect(story.wait('l', 'write', inLane('low'))).toEqual({ kind: 'queued', position: 1 })
    expect(story.wait('h', 'write', inLane('high'))).toEqual({ kind: 'queued', position: 1 })
    expect(story.wait('m', 'write', inLane('middle'))).toEqual({ kind: 'queued', position: 2 })
  })

  it('a request that names none is in the last', () => {
    const story = new LawStory(settings)
    story.acquire('x')
    story.wait('y')
    expect(story.state().waiters).toMatchObject([{ lane: 2 }])
  })

  it('a request that names one that is not configured is refused', () => {
    const story = new LawStory(settings)
    expect(story.wait('y', 'write', inLane('lower'))).toMatchObject({ code: 'bad_request' })
  })

  it('names mean nothing where none are configured', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', inLane('low'))
    story.wait('z', 'write', inLane('high'))
    expect(story.queue()).toEqual(['y', 'z'])
  })

  it('a lower one is passed by at most eight grants in a row, then it is its turn', () => {
    const story = new LawStory(settings)
    story.acquire('x')
    story.wait('l', 'write', inLane('low'))
    story.wait('m', 'write', inLane('middle'))
    for (let index = 0; index < 20; index += 1) story.wait(`h${index}`, 'write', inLane('high'))
    for (let turn = 0; turn < 12; turn += 1) story.release(story.holders()[0] ?? '')
    const order = story.told.map(({ owner }) => owner)
    expect(order.indexOf('l')).toBe(LANE_PASSES_MAX)
    expect(order.indexOf('m')).toBe(LANE_PASSES_MAX + 1)
  })

  it('nobody is passed where nobody waits: the count starts anew', () => {
    const story = new LawStory(settings)
    story.acquire('x')
    story.wait('l', 'write', inLane('low'))
    for (let index = 0; index < 20; index += 1) story.wait(`h${index}`, 'write', inLane('high'))
    for (let turn = 0; turn < 8; turn += 1) story.release(story.holders()[0] ?? '')
    story.cancel('l')
    story.wait('k', 'write', inLane('low'))
    story.release(story.holders()[0] ?? '')
    expect(story.holders()).toEqual(['h8'])
  })

  it('a reader that joins a lane above the queued writer is granted beside the readers', () => {
    const story = new LawStory(settings)
    story.acquire('x', 'read')
    story.wait('w', 'write', inLane('low'))
    expect(story.acquire('y', 'read', inLane('high'))).toMatchObject({ code: 'held' })
    expect(story.wait('y', 'read', inLane('high'))).toMatchObject({ kind: 'granted' })
    expect(story.state().passes[2]).toBe(1)
  })

  it('an operation is in the one that is named like its type', () => {
    const story = new LawStory({ lanes: ['delete', 'pull', 'rest'] })
    story.begin('update', 'm')
    story.begin('pull', 'n')
    story.begin('delete', 'n')
    expect(story.queue('a', 'operation')).toEqual(['delete:n', 'pull:n'])
  })
})
