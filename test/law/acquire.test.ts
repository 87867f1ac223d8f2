import { describe, expect, it } from 'vitest'
import { HOLDERS_SHOWN_MAX, STEPS_PER_HOLD_MAX } from '../../src/law/model/limits.ts'
import { LawStory } from './world/law-story.ts'

describe('an owner that does not hold the key', () => {
  it('is granted a free key in either mode, with the first token', () => {
    for (const mode of ['read', 'write'] as const) {
      const story = new LawStory()
      expect(story.acquire('x', mode)).toMatchObject({ kind: 'granted', mode, token: 1 })
    }
  })

  it('asks for write where it names no mode', () => {
    const story = new LawStory()
    const outcome = story.run({ kind: 'acquire', key: 'a', owner: 'x', requestId: 'i' })
    expect(outcome).toMatchObject({ mode: 'write', reads: 0, writes: 1 })
  })

  it('gets the configured lease where it names no ttl', () => {
    const story = new LawStory({ lockTtlMs: 1_234 })
    expect(story.acquire('x')).toMatchObject({ leaseMs: 1_234 })
  })

  it('reads beside other readers, each under a token of its own', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    expect(story.acquire('y', 'read')).toMatchObject({ kind: 'granted', token: 2 })
    expect(story.holders()).toEqual(['x', 'y'])
  })

  it.each([
    ['write', 'write'],
    ['write', 'read'],
    ['read', 'write'],
  ] as const)(
    'is refused beside a holder in %s when it asks for %s and does not wait',
    (held, asked) => {
      const story = new LawStory()
      story.acquire('x', held)
      expect(story.acquire('y', asked)).toMatchObject({ kind: 'refused', code: 'held' })
      expect(story.holders()).toEqual(['x'])
      expect(story.queue()).toEqual([])
    },
  )

  it('is shown the present holders when it is refused', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(300)
    const holders = [{ owner: 'x', mode: 'write', token: 1, heldMs: 300, leaseMs: 700 }]
    expect(story.acquire('y')).toMatchObject({ code: 'held', holders })
  })

  it('is shown only so many of very many readers', () => {
    const story = new LawStory()
    for (let index = 0; index < HOLDERS_SHOWN_MAX + 5; index += 1) {
      story.acquire(`reader-${index}`, 'read')
    }
    const outcome = story.acquire('y')
    expect(outcome.kind === 'refused' && outcome.holders?.length).toBe(HOLDERS_SHOWN_MAX)
  })

  it('never passes a queued writer, whether it waits or not', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.wait('y', 'write')
    expect(story.acquire('z', 'read')).toMatchObject({ code: 'held' })
    expect(story.wait('z', 'read')).toEqual({ kind: 'queued', position: 2 })
  })

  it('joins the tail of the queue and is told its place when it waits', () => {
    const story = new LawStory()
    story.acquire('x')
    expect(story.wait('y')).toEqual({ kind: 'queued', position: 1 })
    expect(story.wait('z')).toEqual({ kind: 'queued', position: 2 })
  })

  it('is refused where the queue is full, and is not remembered for it', () => {
    const story = new LawStory({ waitersPerKeyMax: 1 })
    story.acquire('x')
    story.wait('y')
    expect(story.wait('z', 'write', { requestId: 'i' })).toMatchObject({ code: 'limit' })
    story.cancel('y')
    expect(story.wait('z', 'write', { requestId: 'i' })).toMatchObject({ kind: 'queued' })
  })

  it('has nothing to do with the same key in other letters, nor with a resource of that name', () => {
    const story = new LawStory()
    story.acquire('x')
    expect(story.acquire('y', 'write', { key: 'A' })).toMatchObject({ kind: 'granted' })
    expect(story.begin('pull', 'n')).toMatchObject({ kind: 'granted' })
  })
})

describe('an owner that already holds the key', () => {
  it.each(['read', 'write'] as const)(
    'in write is granted %s at once, and the count goes up',
    (mode) => {
      const story = new LawStory()
      story.acquire('x', 'write')
      const reads = mode === 'read' ? 1 : 0
      expect(story.acquire('x', mode)).toMatchObject({ token: 1, reads, writes: 2 - reads })
    },
  )

  it('in read is granted read at once, even if a writer is queued', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.wait('y', 'write')
    expect(story.acquire('x', 'read')).toMatchObject({ kind: 'granted', token: 1, reads: 2 })
    expect(story.queue()).toEqual(['y'])
  })

  it('keeps its token when it re-enters', () => {
    const story = new LawStory()
    story.acquire('x')
    story.release('x')
    story.acquire('x')
    expect(story.acquire('x')).toMatchObject({ token: 2, writes: 2 })
  })

  it('keeps the later of its lease and the one it asks for', () => {
    const story = new LawStory()
    story.acquire('x', 'read', { ttlMs: 10_000 })
    story.tick(1_000)
    expect(story.acquire('x', 'read', { ttlMs: 100 })).toMatchObject({ leaseMs: 9_000 })
    expect(story.acquire('x', 'read', { ttlMs: 20_000 })).toMatchObject({ leaseMs: 20_000 })
  })

  it('is refused beyond the deepest re-entry, and keeps what it has', () => {
    const story = new LawStory()
    for (let depth = 0; depth < STEPS_PER_HOLD_MAX; depth += 1) story.acquire('x')
    expect(story.acquire('x')).toMatchObject({ kind: 'refused', code: 'limit' })
    expect(story.state().holds[0]).toMatchObject({ writes: STEPS_PER_HOLD_MAX })
  })
})

describe('what is over is gone before anything is decided', () => {
  it('a hold past its lease does not stand in the way of whoever asks', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(999)
    expect(story.acquire('y')).toMatchObject({ code: 'held' })
    story.tick(1)
    expect(story.acquire('y')).toMatchObject({ kind: 'granted', token: 2 })
  })

  it('whoever asks stands behind those who waited when a lease ends', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.wait('y')
    story.tick(1_000)
    expect(story.acquire('z')).toMatchObject({ code: 'held' })
    expect(story.holders()).toEqual(['y'])
  })

  it('an owner that comes back after its lease starts a new hold with a new token', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.tick(1_000)
    expect(story.acquire('x')).toMatchObject({ token: 2, writes: 1 })
  })

  it('a waiter past its deadline is not granted any more', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { waitMs: 500 })
    story.tick(500)
    story.release('x')
    expect(story.holders()).toEqual([])
    expect(story.told).toMatchObject([{ owner: 'y', answer: { code: 'timeout' } }])
  })
})

describe('events', () => {
  it('tell of a grant, of a wait and of a refusal', () => {
    const story = new LawStory()
    story.acquire('x')
    expect(story.last.events).toMatchObject([{ kind: 'granted', owner: 'x', token: 1 }])
    story.wait('y')
    expect(story.last.events).toMatchObject([{ kind: 'queued', owner: 'y', mode: 'write' }])
    story.acquire('z')
    expect(story.last.events).toMatchObject([{ kind: 'refused', owner: 'z', code: 'held' }])
  })
})
