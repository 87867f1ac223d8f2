import { describe, expect, it } from 'vitest'
import { ENDED_REMEMBERED_MS } from '../../../src/law/model/limits.ts'
import { LawStory } from '../world/law-story.ts'

const PATIENCE_MS = 90_000

/** Node `n` waits for the pull of node `m` in the given way, and the pull succeeds. */
function skipInQueue(waiting = {}, settings = {}): LawStory {
  const story = new LawStory({ waiterPatienceMs: PATIENCE_MS, ...settings })
  story.begin('pull', 'm')
  story.begin('pull', 'n', waiting)
  story.finish('pull', 'm')
  return story
}

function nodes(story: LawStory): readonly string[] {
  return story.state('a', 'operation').references.map(({ node }) => node)
}

describe('the reference of a node that was skipped while it waited', () => {
  it('counts at first, so that no delete overtakes the news', () => {
    const story = skipInQueue()
    expect(nodes(story)).toEqual(['m', 'n'])
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    expect(story.begin('delete', 'd')).toMatchObject({ code: 'in_use', nodes: ['n'] })
  })

  it('is lost when its node is not heard of within the patience of waiters', () => {
    const story = skipInQueue()
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    story.pass(PATIENCE_MS - 1, 'operation')
    expect(nodes(story)).toEqual(['n'])
    story.pass(1, 'operation')
    expect(nodes(story)).toEqual([])
    expect(story.begin('delete', 'd')).toMatchObject({ kind: 'granted' })
  })

  it.each([
    ['by its name', undefined],
    ['by the id of its request', 'i'],
    ['under a new id', 'j'],
  ])('stays when its node asks again %s', (_, requestId) => {
    const story = skipInQueue({ requestId: 'i' })
    story.tick(PATIENCE_MS / 2)
    expect(story.begin('pull', 'n', { requestId })).toMatchObject({ kind: 'skip' })
    story.pass(10 * PATIENCE_MS, 'operation')
    expect(nodes(story)).toEqual(['m', 'n'])
  })

  it.each([
    ['an open request', { waitMs: 1_000_000 }],
    ['a session', { session: 's' }],
  ])('stays when %s tells its node', (_, waiting) => {
    const story = new LawStory({ waiterPatienceMs: PATIENCE_MS })
    story.session({ kind: 'open-session', session: 's', graceMs: 1_000 })
    story.begin('pull', 'm')
    story.begin('pull', 'n', waiting)
    story.finish('pull', 'm')
    story.pass(10 * PATIENCE_MS, 'operation')
    expect(nodes(story)).toEqual(['m', 'n'])
  })

  it('is not kept by another node, another type or a request that was not skipped', () => {
    const story = skipInQueue({}, { retentionMs: 1_000 })
    story.tick(2_000)
    story.begin('update', 'm')
    story.finish('update', 'm')
    expect(story.begin('update', 'n', { requestId: 'u' })).toMatchObject({ kind: 'skip' })
    expect(story.begin('update', 'n', { requestId: 'u' })).toMatchObject({ kind: 'skip' })
    story.begin('pull', 'm')
    story.finish('pull', 'm')
    expect(nodes(story)).toEqual(['m', 'n'])
    story.pass(PATIENCE_MS - 2_000, 'operation')
    expect(nodes(story)).toEqual(['m'])
  })

  it('lasts as long as a late copy of its request is answered skip', () => {
    const story = skipInQueue({ requestId: 'i' }, { waiterPatienceMs: 1_000 })
    story.pass(ENDED_REMEMBERED_MS - 1, 'operation')
    expect(story.begin('pull', 'n', { requestId: 'i' })).toMatchObject({ kind: 'skip' })
    story.pass(ENDED_REMEMBERED_MS, 'operation')
    expect(nodes(story)).toEqual(['m', 'n'])
  })

  it('that its node gave up is not given back by a late copy of its request', () => {
    const story = skipInQueue({ requestId: 'i' })
    story.run({ kind: 'unref', resource: 'a', node: 'n' })
    expect(story.begin('pull', 'n', { requestId: 'i' })).toMatchObject({ kind: 'skip' })
    expect(nodes(story)).toEqual(['m'])
  })

  it('stays when its node had claimed one before', () => {
    const story = new LawStory({ retentionMs: 1_000, waiterPatienceMs: PATIENCE_MS })
    story.begin('pull', 'n')
    story.finish('pull', 'n')
    story.tick(2_000)
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    story.finish('pull', 'm')
    story.pass(10 * PATIENCE_MS, 'operation')
    expect(nodes(story)).toEqual(['n', 'm'])
  })

  it('is begun anew where its node is skipped at the head of the queue', () => {
    const story = new LawStory({ waiterPatienceMs: PATIENCE_MS })
    story.begin('pull', 'm')
    story.finish('pull', 'm')
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    story.begin('delete', 'd')
    story.begin('pull', 'n')
    story.finish('delete', 'd', { success: false })
    expect(nodes(story)).toEqual(['n'])
    story.pass(PATIENCE_MS, 'operation')
    expect(nodes(story)).toEqual([])
  })
})
