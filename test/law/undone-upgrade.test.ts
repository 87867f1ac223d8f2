import { describe, expect, it } from 'vitest'
import { LawStory } from './world/law-story.ts'

/** `x` reads under token 1 and is granted its upgrade from the queue, unheard, under token 3. */
function createUnheard(detach = false): LawStory {
  const story = new LawStory({ claimWindowMs: 500 })
  story.acquire('x', 'read', { requestId: 'r' })
  story.acquire('y', 'read')
  story.wait('x', 'write', { requestId: 'w', detach })
  story.release('y')
  return story
}

describe('an upgrade that was granted and undone unheard', () => {
  it.each<[string, (story: LawStory) => unknown]>([
    ['cancelled', (story) => story.cancel('x', 'w')],
    ['not claimed', (story) => story.pass(500)],
  ])('leaves the hold with the token its owner knows: %s', (_, undo) => {
    const story = createUnheard(true)
    expect(story.state().holds).toMatchObject([{ token: 3, reads: 1, writes: 1 }])
    undo(story)
    expect(story.state().holds).toMatchObject([{ token: 1, reads: 1, writes: 0 }])
    expect(story.release('x', { token: 1 })).toMatchObject({ kind: 'released' })
  })

  it('has used up its token: the next passage gets a later one', () => {
    const story = createUnheard()
    story.cancel('x', 'w')
    expect(story.acquire('x', 'write')).toMatchObject({ token: 4, reads: 1, writes: 1 })
  })

  it('keeps its token when its owner releases it', () => {
    const story = createUnheard()
    story.release('x', { mode: 'write', token: 3 })
    expect(story.state().holds).toMatchObject([{ token: 3, reads: 1, writes: 0 }])
  })

  it('is undone by its request id after its owner was told', () => {
    const story = createUnheard()
    story.renew('x', 1_000, 3)
    expect(story.cancel('x')).toMatchObject({ cancelled: false })
    expect(story.cancel('x', 'w')).toMatchObject({ cancelled: true })
    expect(story.state().holds).toMatchObject([{ token: 1, reads: 1, writes: 0 }])
  })

  it('leaves the new token as long as another request was granted under it', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    story.wait('x', 'write', { requestId: 'v' })
    story.wait('x', 'write', { requestId: 'w' })
    story.release('y')
    story.cancel('x', 'v')
    expect(story.state().holds).toMatchObject([{ token: 3, reads: 1, writes: 1 }])
    story.cancel('x', 'w')
    expect(story.state().holds).toMatchObject([{ token: 1, reads: 1, writes: 0 }])
  })
})
