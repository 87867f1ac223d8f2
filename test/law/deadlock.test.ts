import { describe, expect, it } from 'vitest'
import { decide } from '../../src/law/decide.ts'
import { LawStory } from './world/law-story.ts'
import { PlainWorld } from './world/plain-world.ts'

describe('a wait that closes a cycle', () => {
  it('of two is refused with the cycle, the asking party first', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { key: 'a' })
    story.acquire('y', 'write', { key: 'b' })
    story.wait('x', 'write', { key: 'b' })
    const outcome = story.wait('y', 'write', { key: 'a' })
    expect(outcome).toEqual({ kind: 'refused', code: 'deadlock', cycle: ['y', 'x'] })
    expect(story.queue('a')).toEqual([])
  })

  it('of three is refused', () => {
    const story = new LawStory()
    for (const [owner, key] of [
      ['x', 'a'],
      ['y', 'b'],
      ['z', 'c'],
    ] as const) {
      story.acquire(owner, 'write', { key })
    }
    story.wait('x', 'write', { key: 'b' })
    story.wait('y', 'write', { key: 'c' })
    const outcome = story.wait('z', 'write', { key: 'a' })
    expect(outcome).toMatchObject({ code: 'deadlock', cycle: ['z', 'x', 'y'] })
  })

  it('of owners that are one party is refused', () => {
    const story = new LawStory()
    story.acquire('outer', 'write', { party: 'task' })
    const outcome = story.wait('inner', 'write', { party: 'task' })
    expect(outcome).toMatchObject({ code: 'deadlock', cycle: ['task'] })
  })

  it('through somebody ahead in the queue is refused', () => {
    const story = new LawStory()
    story.acquire('z', 'write', { key: 'a' })
    story.acquire('x', 'write', { key: 'b' })
    story.wait('y', 'write', { key: 'a' })
    story.wait('x', 'write', { key: 'a' })
    expect(story.wait('y', 'write', { key: 'b' })).toMatchObject({ code: 'deadlock' })
  })

  it('by an upgrade is refused', () => {
    const story = new LawStory()
    story.acquire('x', 'read', { key: 'a' })
    story.acquire('y', 'read', { key: 'a' })
    story.acquire('x', 'write', { key: 'b' })
    story.wait('y', 'write', { key: 'b' })
    expect(story.wait('x', 'write', { key: 'a' })).toMatchObject({ code: 'deadlock' })
  })
})

/** Two keys: `a` is held by x, `b` by z, and y waits for `b`; the rest of the queue of `a` is up to the test. */
function beginCrossed(): LawStory {
  const story = new LawStory()
  story.acquire('x', 'write', { key: 'a' })
  story.acquire('z', 'read', { key: 'b' })
  story.wait('y', 'write', { key: 'b' })
  return story
}

describe('a reader that is to write as soon as it reads', () => {
  it('stands between readers ahead of it and those behind', () => {
    const story = beginCrossed()
    story.wait('y', 'read', { key: 'a' })
    story.wait('u', 'read', { key: 'a' })
    story.wait('u', 'write', { key: 'a' })
    expect(story.wait('z', 'read', { key: 'a' })).toMatchObject({ code: 'deadlock' })
  })

  it('does not stand between readers that are both behind it', () => {
    const story = beginCrossed()
    story.wait('u', 'read', { key: 'a' })
    story.wait('y', 'read', { key: 'a' })
    story.wait('u', 'write', { key: 'a' })
    expect(story.wait('z', 'read', { key: 'a' })).toMatchObject({ kind: 'queued' })
  })

  it('waits for those who read together with it', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { key: 'a' })
    story.acquire('u', 'write', { key: 'b' })
    story.wait('y', 'read', { key: 'a' })
    story.wait('u', 'read', { key: 'a' })
    story.wait('u', 'write', { key: 'a' })
    expect(story.wait('y', 'write', { key: 'b' })).toMatchObject({ code: 'deadlock' })
  })
})

describe('a wait that closes no cycle', () => {
  it('is queued, however long the chain', () => {
    const story = new LawStory()
    for (let index = 0; index < 50; index += 1) {
      story.acquire(`o${index}`, 'write', { key: `k${index}` })
    }
    for (let index = 0; index < 49; index += 1) {
      const outcome = story.wait(`o${index}`, 'write', { key: `k${index + 1}` })
      expect(outcome).toMatchObject({ kind: 'queued' })
    }
  })

  it('behind a reader that will be granted together with it is queued', () => {
    const story = new LawStory()
    story.acquire('z', 'write', { key: 'a' })
    story.acquire('x', 'write', { key: 'b' })
    story.wait('y', 'read', { key: 'a' })
    story.wait('y', 'write', { key: 'b' })
    expect(story.wait('x', 'read', { key: 'a' })).toMatchObject({ kind: 'queued' })
  })

  it('by an upgrade is queued, whoever waits behind it', () => {
    const story = new LawStory()
    story.acquire('x', 'read', { key: 'a' })
    story.acquire('z', 'read', { key: 'a' })
    story.acquire('x', 'write', { key: 'b' })
    story.wait('y', 'write', { key: 'a' })
    story.wait('y', 'write', { key: 'b' })
    expect(story.wait('x', 'write', { key: 'a' })).toMatchObject({ kind: 'queued' })
  })

  it('because what it would have waited for has just ended is queued', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.wait('y')
    story.tick(1_000)
    expect(story.wait('x')).toEqual({ kind: 'queued', position: 1 })
    expect(story.holders()).toEqual(['y'])
  })

  it('of an owner that asks twice on one key is queued', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y')
    story.wait('z')
    expect(story.wait('y')).toEqual({ kind: 'queued', position: 3 })
  })

  it('of operations is queued: crossed waits are normal there and end', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { resource: 'a' })
    story.begin('pull', 'n', { resource: 'b' })
    story.begin('pull', 'm', { resource: 'b' })
    expect(story.begin('pull', 'n', { resource: 'a' })).toMatchObject({ kind: 'queued' })
  })
})

it('an engine that cannot see all keys leaves a cycle to the deadlines', () => {
  const world = new PlainWorld({ seesAllKeys: false })
  const ask = (owner: string, key: string) =>
    world.run({ kind: 'acquire', key, owner, requestId: key, waitMs: 1_000 }, 0).outcome
  ask('x', 'a')
  ask('y', 'b')
  ask('x', 'b')
  expect(ask('y', 'a')).toMatchObject({ kind: 'queued' })
  const { changes } = decide(world.view('lock', 'a'), { kind: 'expire' }, 1_000)
  expect(changes).toContainEqual(
    expect.objectContaining({ answer: expect.objectContaining({ code: 'timeout' }) }),
  )
})
