import { describe, expect, it } from 'vitest'
import { ENDED_REMEMBERED_MS } from '../../src/law/model/limits.ts'
import type { HoldEnd } from '../../src/law/model/view.ts'
import { LawStory } from './world/law-story.ts'

const endings: readonly [HoldEnd, (story: LawStory) => unknown][] = [
  ['expired', (story) => story.tick(1_000)],
  ['forced', (story) => story.run({ kind: 'force', key: 'a' })],
  ['released', (story) => story.release('x')],
  ['disconnected', (story) => story.session({ kind: 'close-session', session: 's' })],
]

function createEnded(end: (story: LawStory) => unknown): LawStory {
  const story = new LawStory()
  story.session({ kind: 'open-session', session: 's', graceMs: 5_000, keepsLeases: false })
  story.acquire('x', 'write', { ttlMs: 1_000, session: 's' })
  end(story)
  return story
}

describe('an owner that is refused because it does not hold', () => {
  it.each(endings)('learns at a renewal how its hold ended: %s', (end, run) => {
    expect(createEnded(run).renew('x', 1_000)).toEqual({
      kind: 'refused',
      code: 'not_holder',
      end,
    })
  })

  it.each(endings)('learns at a release how its hold ended: %s', (end, run) => {
    expect(createEnded(run).release('x')).toEqual({ kind: 'refused', code: 'not_holder', end })
  })

  it('learns at a finish how its operation ended', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { requestId: '1' })
    story.run({ kind: 'force', key: 'a', namespace: 'operation' })
    expect(story.finish('pull', 'm')).toMatchObject({ code: 'not_holder', end: 'forced' })
  })

  it('learns of its last hold, not of an earlier one', () => {
    const story = createEnded((one) => one.run({ kind: 'force', key: 'a' }))
    story.acquire('x')
    story.release('x')
    expect(story.renew('x', 1_000)).toMatchObject({ end: 'released' })
  })

  it.each<[string, (story: LawStory) => void]>([
    ['it never held', () => {}],
    ['another owner held', (story) => [story.acquire('y'), story.release('y')]],
    [
      'it was only refused',
      (story) => [story.acquire('y'), story.acquire('x'), story.release('y')],
    ],
    [
      'it is too long ago',
      (story) => [story.acquire('x'), story.release('x'), story.tick(ENDED_REMEMBERED_MS)],
    ],
  ])('learns nothing where nothing is remembered: %s', (_, run) => {
    const story = new LawStory()
    run(story)
    expect(story.renew('x', 1_000)).toEqual({ kind: 'refused', code: 'not_holder' })
  })

  it('learns nothing while it holds in another mode', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    story.acquire('x', 'read')
    story.release('x')
    expect(story.release('x', { mode: 'write' })).toEqual({ kind: 'refused', code: 'not_holder' })
  })
})
