import { describe, expect, it } from 'vitest'
import { LawStory } from './world/law-story.ts'

describe('release', () => {
  it.each(['read', 'write', undefined] as const)(
    'in mode %s by one who holds nothing is refused and changes nothing',
    (mode) => {
      const story = new LawStory()
      story.acquire('x')
      const before = story.state()
      expect(story.release('y', { mode })).toEqual({ kind: 'refused', code: 'not_holder' })
      expect(story.state()).toEqual(before)
    },
  )

  it('in a mode that its holder does not hold is refused and changes nothing', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    expect(story.release('x', { mode: 'write' })).toMatchObject({ code: 'not_holder' })
    expect(story.state().holds[0]).toMatchObject({ reads: 1, writes: 0 })
  })

  it('under another token than the hold has is refused and changes nothing', () => {
    const story = new LawStory()
    story.acquire('x')
    const before = story.state()
    expect(story.release('x', { token: 7 })).toEqual({ kind: 'refused', code: 'stale_token' })
    expect(story.state()).toEqual(before)
  })

  it('of a mode that is not held says so, whatever the token', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    expect(story.release('x', { mode: 'write', token: 7 })).toMatchObject({ code: 'not_holder' })
  })

  it('by a stale owner does not touch the hold of whoever came after', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(1_000)
    story.acquire('y')
    expect(story.release('x', { token: 1 })).toMatchObject({ code: 'not_holder' })
    expect(story.holders()).toEqual(['y'])
  })

  it('by an owner that lost its hold and has a new one is refused under the old token', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(1_000)
    story.acquire('x')
    expect(story.release('x', { token: 1 })).toMatchObject({ code: 'stale_token' })
    expect(story.release('x', { token: 2 })).toMatchObject({ kind: 'released' })
  })

  it('takes the count of its mode down by one, and the hold ends when both are zero', () => {
    const story = new LawStory()
    story.acquire('x')
    story.acquire('x', 'read')
    story.acquire('x', 'read')
    expect(story.release('x', { mode: 'read' })).toEqual({ kind: 'released', reads: 1, writes: 1 })
    expect(story.release('x', { mode: 'write' })).toEqual({ kind: 'released', reads: 1, writes: 0 })
    expect(story.release('x', { mode: 'read' })).toEqual({ kind: 'released', reads: 0, writes: 0 })
    expect(story.holders()).toEqual([])
    expect(story.release('x', { mode: 'read' })).toMatchObject({ code: 'not_holder' })
  })

  it('without a mode takes the write count down first', () => {
    const story = new LawStory()
    story.acquire('x')
    story.acquire('x', 'read')
    expect(story.release('x')).toEqual({ kind: 'released', reads: 1, writes: 0 })
    expect(story.release('x')).toEqual({ kind: 'released', reads: 0, writes: 0 })
  })

  it('moves the queue', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    story.release('x')
    expect(story.told).toMatchObject([{ owner: 'y', answer: { kind: 'granted', token: 2 } }])
  })

  it('tells watchers', () => {
    const story = new LawStory()
    story.acquire('x')
    story.release('x')
    expect(story.last.events).toMatchObject([{ kind: 'released', owner: 'x', token: 1 }])
  })
})

describe('a downgrade', () => {
  it('keeps the token and lets no writer between', () => {
    const story = new LawStory()
    story.acquire('x')
    story.acquire('x', 'read')
    story.wait('y', 'write')
    story.release('x', { mode: 'write' })
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 1, writes: 0, token: 1 }])
    expect(story.queue()).toEqual(['y'])
  })

  it('lets in the readers at the head of the queue', () => {
    const story = new LawStory()
    story.acquire('x')
    story.acquire('x', 'read')
    story.wait('y', 'read')
    story.release('x', { mode: 'write' })
    expect(story.holders()).toEqual(['x', 'y'])
  })
})

describe('renew', () => {
  it('sets the lease to the later of what it is and now + ttl', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 10_000 })
    expect(story.renew('x', 5_000)).toEqual({ kind: 'renewed', token: 1, leaseMs: 10_000 })
    expect(story.renew('x', 15_000)).toEqual({ kind: 'renewed', token: 1, leaseMs: 15_000 })
  })

  it('does not revive a hold past its lease', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(1_000)
    expect(story.renew('x', 10_000)).toMatchObject({ kind: 'refused', code: 'not_holder' })
    expect(story.holders()).toEqual([])
  })

  it('is refused to one who waits, and to one who holds under another token', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    expect(story.renew('y', 1_000)).toMatchObject({ code: 'not_holder' })
    expect(story.renew('x', 1_000, 9)).toMatchObject({ code: 'stale_token' })
  })

  it('never makes shorter what a session or a restart would give', () => {
    const story = new LawStory()
    story.acquire('x', 'read', { ttlMs: 30_000 })
    story.tick(10_000)
    story.renew('x', 100)
    story.acquire('x', 'read', { ttlMs: 100 })
    expect(story.state().holds[0]).toMatchObject({ ttlMs: 30_000 })
  })

  it('is marked as a mere move of the lease where nothing else changed', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(100)
    story.renew('x', 1_000)
    expect(story.last.changes).toMatchObject([{ kind: 'hold-set', leaseOnly: true }])
    story.renew('x', 2_000)
    expect(story.last.changes).toMatchObject([{ kind: 'hold-set', leaseOnly: false }])
  })
})

describe('force', () => {
  it('ends the hold of one owner, and the queue moves', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('z', 'write')
    expect(story.run({ kind: 'force', key: 'a', owner: 'x' })).toEqual({ kind: 'forced', count: 1 })
    expect(story.holders()).toEqual(['y'])
  })

  it('ends all holds where no owner is named', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('z', 'write')
    expect(story.run({ kind: 'force', key: 'a' })).toEqual({ kind: 'forced', count: 2 })
    expect(story.last.events).toContainEqual(
      expect.objectContaining({ kind: 'forced', owner: 'y' }),
    )
    expect(story.holders()).toEqual(['z'])
  })

  it('of a key that nobody holds does nothing', () => {
    const story = new LawStory()
    expect(story.run({ kind: 'force', key: 'a' })).toEqual({ kind: 'forced', count: 0 })
    expect(story.last.changes).toEqual([])
  })
})
