import { describe, expect, it } from 'vitest'
import { LawStory } from './world/law-story.ts'

const SETTINGS = { waiterPatienceMs: 1_000, claimWindowMs: 500 }

const HANG_UP = { kind: 'hang-up', owner: 'pull:n' } as const
const PLACE = { namespace: 'operation', key: 'a' } as const

function isConnected(story: LawStory, namespace: 'lock' | 'operation'): boolean | undefined {
  return story.state('a', namespace).waiters[0]?.connected
}

describe('a waiter with an open call', () => {
  it('stays connected when its node asks again without waiting', () => {
    const story = new LawStory(SETTINGS)
    story.begin('pull', 'm')
    story.begin('pull', 'n', { waitMs: 5_000 })
    expect(story.begin('pull', 'n')).toEqual({ kind: 'queued', position: 1 })
    expect(isConnected(story, 'operation')).toBe(true)
  })

  it('is told of its grant and need not claim it, although its node asked without waiting', () => {
    const story = new LawStory(SETTINGS)
    story.begin('pull', 'm')
    story.begin('pull', 'n', { waitMs: 5_000 })
    story.begin('pull', 'n')
    story.finish('pull', 'm', { success: false })
    story.pass(2_000, 'operation')
    expect(story.holders('a', 'operation')).toEqual(['pull:n'])
  })

  it('stays connected when its owner asks again detached', () => {
    const story = new LawStory(SETTINGS)
    story.acquire('x')
    story.wait('y', 'write', { requestId: '1' })
    story.wait('y', 'write', { requestId: '1', detach: true })
    expect(isConnected(story, 'lock')).toBe(true)
  })

  it('only asks now and then once the last call has hung up', () => {
    const story = new LawStory(SETTINGS)
    story.begin('pull', 'm')
    story.begin('pull', 'n', { waitMs: 5_000, requestId: '1' })
    expect(story.run(HANG_UP, PLACE)).toEqual({ kind: 'queued', position: 1 })
    expect(isConnected(story, 'operation')).toBe(false)
    story.pass(1_000, 'operation')
    expect(story.told).toMatchObject([{ owner: 'pull:n', answer: { code: 'abandoned' } }])
  })

  it('stays connected by its session when the last call has hung up', () => {
    const story = new LawStory(SETTINGS)
    story.session({ kind: 'open-session', session: 's', graceMs: 5_000 })
    story.begin('pull', 'm')
    story.begin('pull', 'n', { waitMs: 5_000, session: 's' })
    story.run(HANG_UP, PLACE)
    expect(isConnected(story, 'operation')).toBe(true)
    story.pass(2_000, 'operation')
    expect(story.queue('a', 'operation')).toEqual(['pull:n'])
  })
})

describe('a waiter without an open call', () => {
  it('becomes connected when its owner asks with one', () => {
    const story = new LawStory(SETTINGS)
    story.acquire('x')
    story.wait('y', 'write', { requestId: '1', detach: true })
    story.wait('y', 'write', { requestId: '1' })
    expect(isConnected(story, 'lock')).toBe(true)
  })

  it('cannot hang up: nobody waits under that name', () => {
    const story = new LawStory(SETTINGS)
    story.begin('pull', 'm')
    expect(story.run(HANG_UP, PLACE)).toMatchObject({ code: 'not_holder' })
    expect(story.last.changes).toEqual([])
  })
})

describe('a grant that is entrusted to whoever is connected to its owner', () => {
  function grantUnasked(namespace: 'lock' | 'operation'): LawStory {
    const story = new LawStory(SETTINGS)
    if (namespace === 'lock') {
      story.acquire('x')
      story.wait('pull:n', 'write', { requestId: '1', detach: true })
      story.release('x')
    } else {
      story.begin('pull', 'm')
      story.begin('pull', 'n', { requestId: '1' })
      story.finish('pull', 'm', { success: false })
    }
    return story
  }

  it.each([
    ['lock', '1'],
    ['operation', undefined],
  ] as const)('need not be claimed in time, and can be undone: %s', (namespace, requestId) => {
    const story = grantUnasked(namespace)
    const place = { namespace, key: 'a' }
    const entrust = { kind: 'entrust', owner: 'pull:n', requestId } as const
    expect(story.run(entrust, place)).toMatchObject({ kind: 'granted', writes: 1 })
    story.pass(2_000, namespace)
    expect(story.holders('a', namespace)).toEqual(['pull:n'])
    const cancel = { kind: 'cancel', namespace, key: 'a', owner: 'pull:n' } as const
    expect(story.run({ ...cancel, reason: 'abandoned' })).toMatchObject({ cancelled: true })
    expect(story.holders('a', namespace)).toEqual([])
  })

  it('stays taken if its owner has asked for it meanwhile', () => {
    const story = grantUnasked('lock')
    story.wait('pull:n', 'write', { requestId: '1' })
    story.run({ kind: 'entrust', owner: 'pull:n', requestId: '1' })
    expect(story.last.changes).toEqual([])
    const cancel = { kind: 'cancel', key: 'a', owner: 'pull:n', reason: 'abandoned' } as const
    expect(story.run(cancel)).toMatchObject({ cancelled: false })
  })

  it('is refused if it was undone before', () => {
    const story = grantUnasked('lock')
    story.pass(2_000)
    const entrust = { kind: 'entrust', owner: 'pull:n', requestId: '1' } as const
    expect(story.run(entrust)).toEqual({ kind: 'refused', code: 'not_holder', end: 'unclaimed' })
    expect(story.last.changes).toEqual([])
  })
})
