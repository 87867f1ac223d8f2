import { describe, expect, it } from 'vitest'
import { LawStory } from './world/law-story.ts'

describe('a wait that ends because its client is out of reach', () => {
  it('is answered abandoned, to its open call and to a late retry', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { requestId: '1' })
    const cancel = { kind: 'cancel', key: 'a', owner: 'y', requestId: '1' } as const
    expect(story.run({ ...cancel, reason: 'abandoned' })).toMatchObject({ cancelled: true })
    expect(story.told).toEqual([{ owner: 'y', answer: { kind: 'refused', code: 'abandoned' } }])
    story.release('x')
    expect(story.wait('y', 'write', { requestId: '1' })).toMatchObject({ code: 'abandoned' })
    expect(story.holders()).toEqual([])
  })

  it.each([undefined, 'cancelled'] as const)(
    'is told from one that was cancelled: %s',
    (reason) => {
      const story = new LawStory()
      story.acquire('x')
      story.wait('y', 'write', { requestId: '1' })
      story.run({ kind: 'cancel', key: 'a', owner: 'y', reason })
      expect(story.told).toMatchObject([{ answer: { code: 'cancelled' } }])
      expect(story.wait('y', 'write', { requestId: '1' })).toMatchObject({ code: 'cancelled' })
    },
  )

  it('does not hold when it arrives after it was given up', () => {
    const story = new LawStory()
    story.run({ kind: 'cancel', key: 'a', owner: 'y', requestId: '1', reason: 'abandoned' })
    expect(story.wait('y', 'write', { requestId: '1' })).toMatchObject({ code: 'abandoned' })
  })

  it('has its grant undone as unclaimed if it was granted unheard', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { requestId: '1' })
    story.release('x')
    story.run({ kind: 'cancel', key: 'a', owner: 'y', requestId: '1', reason: 'abandoned' })
    expect(story.holders()).toEqual([])
    expect(story.wait('y', 'write', { requestId: '1' })).toMatchObject({
      code: 'ended',
      end: 'unclaimed',
    })
  })

  it('is answered abandoned in the queue of an operation too', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'n', { requestId: '1', waitMs: 5_000 })
    const cancel = { kind: 'cancel', namespace: 'operation', key: 'a', owner: 'pull:n' } as const
    story.run({ ...cancel, reason: 'abandoned' })
    expect(story.told).toMatchObject([{ owner: 'pull:n', answer: { code: 'abandoned' } }])
    expect(story.begin('pull', 'n', { requestId: '1' })).toMatchObject({ code: 'abandoned' })
  })
})
