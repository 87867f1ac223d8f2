import { describe, expect, it } from 'vitest'
import { LawStory } from './world/law-story.ts'

describe('a reader that asks to write', () => {
  it('becomes the writer at once if it is the only holder, with a new token and its read count', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    expect(story.acquire('x', 'write')).toMatchObject({ token: 2, reads: 1, writes: 1 })
  })

  it('is not held up by those who wait', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.wait('y', 'write')
    expect(story.acquire('x', 'write')).toMatchObject({ kind: 'granted', writes: 1 })
  })

  it('is refused if others read and it does not wait, and keeps its read hold', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    expect(story.acquire('x', 'write')).toMatchObject({ code: 'held' })
    expect(story.state().holds[0]).toMatchObject({ owner: 'x', reads: 1, writes: 0, token: 1 })
  })

  it('waits ahead of every ordinary waiter, whatever their lane', () => {
    const story = new LawStory({ lanes: ['high', 'low'] })
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('z', 'write', { lane: 'high' })
    expect(story.wait('x', 'write', { lane: 'low' })).toEqual({ kind: 'queued', position: 1 })
    expect(story.queue()).toEqual(['x', 'z'])
    story.release('y')
    expect(story.told).toMatchObject([{ owner: 'x', answer: { token: 3, reads: 1, writes: 1 } }])
  })

  it('keeps new readers out while it waits', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write')
    expect(story.acquire('z', 'read')).toMatchObject({ code: 'held' })
    expect(story.acquire('y', 'read')).toMatchObject({ kind: 'granted', reads: 2 })
  })

  it.each([0, 1_000])('is refused if another waits to upgrade, with a wait of %i ms', (waitMs) => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write')
    const outcome = story.acquire('y', 'write', { waitMs })
    expect(outcome).toMatchObject({ code: 'upgrade_conflict', holders: [{}, {}] })
    expect(story.holders()).toEqual(['x', 'y'])
    story.release('y')
    expect(story.state().holds).toMatchObject([{ owner: 'x', writes: 1 }])
  })

  it('may wait under several request ids and is granted them together', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write')
    expect(story.wait('x', 'write')).toEqual({ kind: 'queued', position: 2 })
    story.release('y')
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 1, writes: 2, token: 3 }])
  })

  it('leaves the queue if its read hold ends while it waits, and is told so', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write')
    story.release('x', { mode: 'read' })
    expect(story.told).toEqual([{ owner: 'x', answer: { kind: 'refused', code: 'not_holder' } }])
    expect(story.last.events).toContainEqual(
      expect.objectContaining({ kind: 'cancelled', owner: 'x', code: 'not_holder' }),
    )
    expect(story.queue()).toEqual([])
  })

  it('leaves the queue if its read hold expires while it waits', () => {
    const story = new LawStory()
    story.acquire('x', 'read', { ttlMs: 1_000 })
    story.acquire('y', 'read')
    story.wait('x', 'write')
    story.pass(1_000)
    expect(story.told).toMatchObject([{ owner: 'x', answer: { code: 'not_holder' } }])
    expect(story.holders()).toEqual(['y'])
  })

  it('lets no foreign writer between its read and its write', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('z', 'write')
    story.wait('x', 'write')
    story.release('y')
    expect(story.holders()).toEqual(['x'])
  })

  it('gets its request decided as an upgrade if it began to read while that waited', () => {
    const story = new LawStory()
    story.acquire('w')
    story.wait('z', 'read')
    story.wait('x', 'read')
    story.wait('y', 'write')
    story.wait('x', 'write')
    story.release('w')
    expect(story.holders()).toEqual(['z', 'x'])
    expect(story.queue()).toEqual(['x', 'y'])
    story.release('z')
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 1, writes: 1 }])
  })

  it('goes back to reading when an upgrade that it did not take is undone', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write', { requestId: 'up' })
    story.release('y')
    story.cancel('x', 'up')
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 1, writes: 0, token: 1 }])
  })
})
