import { describe, expect, it } from 'vitest'
import { TYPES_PER_RESOURCE_MAX } from '../../src/law/model/limits.ts'
import { LawStory } from './world/law-story.ts'

describe('a key that has as many readers as it takes', () => {
  function createFull(): LawStory {
    const story = new LawStory({ holdersPerKeyMax: 2 })
    story.acquire('x', 'read')
    story.acquire('y', 'read')
    return story
  }

  /** Somebody waits for room who has another key. */
  function createWithoutRoom(): LawStory {
    const story = new LawStory({ holdersPerKeyMax: 2 })
    story.acquire('z', 'write')
    for (const owner of ['x', 'y', 'u']) story.wait(owner, 'read')
    story.release('z')
    story.acquire('u', 'write', { key: 'other' })
    return story
  }

  it('refuses one more, whether it waits or not, and does not remember that', () => {
    const story = createFull()
    const id = { requestId: 'i' }
    expect(story.acquire('z', 'read', id)).toMatchObject({ code: 'limit' })
    expect(story.wait('z', 'read', id)).toMatchObject({ code: 'limit' })
    story.release('x')
    expect(story.acquire('z', 'read', id)).toMatchObject({ kind: 'granted' })
  })

  it('refuses nothing to those who read it', () => {
    const story = createFull()
    expect(story.acquire('x', 'read')).toMatchObject({ kind: 'granted', reads: 2 })
    expect(story.wait('x', 'write')).toMatchObject({ kind: 'queued', position: 1 })
    story.release('y')
    expect(story.state().holds).toMatchObject([{ owner: 'x', reads: 2, writes: 1 }])
  })

  it('lets writers wait, and readers behind them', () => {
    const story = createFull()
    expect(story.wait('z', 'write')).toMatchObject({ kind: 'queued', position: 1 })
    expect(story.wait('u', 'read')).toMatchObject({ kind: 'queued', position: 2 })
  })

  it('is handed to as many as it takes; the others wait for room, in their order', () => {
    const story = new LawStory({ holdersPerKeyMax: 2 })
    story.acquire('x', 'write')
    for (const owner of ['a', 'b', 'c', 'd']) story.wait(owner, 'read')
    story.release('x')
    expect(story.holders()).toEqual(['a', 'b'])
    expect(story.queue()).toEqual(['c', 'd'])
    story.release('b')
    expect(story.holders()).toEqual(['a', 'c'])
    story.acquire('a', 'read', { ttlMs: 1_000 })
    story.release('a')
    story.release('a')
    expect(story.holders()).toEqual(['c', 'd'])
  })

  it('keeps nobody for whom it has no room from being waited for by one of its readers', () => {
    const story = createWithoutRoom()
    expect(story.wait('x', 'write', { key: 'other' })).toMatchObject({ kind: 'queued' })
    story.wait('v', 'write')
    story.wait('w', 'read')
    story.acquire('w', 'write', { key: 'third' })
    expect(story.wait('y', 'write', { key: 'third' })).toMatchObject({ code: 'deadlock' })
  })

  it('refuses an upgrade that would keep out somebody whom another of its readers waits for', () => {
    const story = createWithoutRoom()
    story.wait('y', 'write', { key: 'other' })
    const refused = { code: 'deadlock', cycle: ['x', 'y', 'u'] }
    expect(story.wait('x', 'write')).toMatchObject(refused)
  })
})

describe('a resource that is kept for as many nodes as it can be', () => {
  function createFull(): LawStory {
    const story = new LawStory({ referencesPerResourceMax: 2 })
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    story.begin('pull', 'o')
    story.finish('pull', 'm')
    return story
  }

  it('refuses those who waited for it beyond that', () => {
    const story = createFull()
    expect(story.told).toMatchObject([
      { owner: 'pull:n', answer: { kind: 'skip' } },
      { owner: 'pull:o', answer: { kind: 'refused', code: 'limit' } },
    ])
    expect(story.state('a', 'operation').references).toMatchObject([{ node: 'm' }, { node: 'n' }])
  })

  it('refuses another node until one is gone, and no node that it is kept for', () => {
    const story = createFull()
    expect(story.begin('pull', 'o', { requestId: 'i' })).toMatchObject({ code: 'limit' })
    expect(story.begin('pull', 'n')).toMatchObject({ kind: 'skip' })
    expect(story.begin('update', 'o')).toMatchObject({ kind: 'granted' })
    story.finish('update', 'o')
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    expect(story.begin('pull', 'o', { requestId: 'i' })).toMatchObject({ kind: 'skip' })
  })

  it('counts nobody who coordinates by itself', () => {
    const story = createFull()
    expect(story.begin('pull', 'o', { coordination: 'client' })).toMatchObject({ kind: 'granted' })
  })
})

describe('a resource that remembers as many types as it can', () => {
  function createFull(): LawStory {
    const story = new LawStory({ retentionMs: 1_000 })
    for (let index = 0; index < TYPES_PER_RESOURCE_MAX; index += 1) {
      story.begin(`type-${index}`, 'm')
      story.finish(`type-${index}`, 'm')
    }
    return story
  }

  it('refuses a type that it does not know, and none that it does', () => {
    const story = createFull()
    expect(story.begin('other', 'm')).toMatchObject({ code: 'limit' })
    expect(story.begin('type-0', 'n')).toMatchObject({ kind: 'skip' })
    expect(story.begin('type-0', 'n', { coordination: 'client' })).toMatchObject({
      kind: 'granted',
    })
  })

  it('takes another when one is forgotten', () => {
    const story = createFull()
    story.tick(1_000)
    expect(story.begin('other', 'm')).toMatchObject({ kind: 'granted' })
  })

  it('runs what leaves no memory, and what takes it away', () => {
    const story = createFull()
    expect(story.begin('other', 'm', { coordination: 'mutex' })).toMatchObject({ kind: 'granted' })
    story.finish('other', 'm')
    expect(story.begin('delete', 'm')).toMatchObject({ kind: 'granted' })
    story.finish('delete', 'm')
    expect(story.begin('other', 'm')).toMatchObject({ kind: 'granted' })
  })
})
