import { describe, expect, it } from 'vitest'
import { ENDED_REMEMBERED_MS, JOINED_PER_STANDING_MAX } from '../../../src/law/model/limits.ts'
import { LawStory } from '../world/law-story.ts'

describe('a begin that is answered with the standing of another request id', () => {
  it.each([true, false])('does not start anew after the finish, success %s', (success) => {
    const story = new LawStory()
    story.begin('index', 'm', { requestId: 'first' })
    expect(story.begin('index', 'm', { requestId: 'joined' })).toMatchObject({ token: 1 })
    story.finish('index', 'm', { success })
    const end = success ? 'released' : 'failed'
    expect(story.begin('index', 'm', { requestId: 'joined' })).toMatchObject({ code: 'ended', end })
    expect(story.holders('a', 'operation')).toEqual([])
  })

  it('does not start anew after an operation that has no name of its own', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'm', { requestId: 'joined' })
    story.finish('pull', 'm', { success: false })
    expect(story.begin('pull', 'm', { requestId: 'joined' })).toMatchObject({ end: 'failed' })
    expect(story.begin('pull', 'm')).toMatchObject({ kind: 'granted' })
  })

  it('leaves a fresh id free to begin again', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { requestId: 'first' })
    story.begin('pull', 'm', { requestId: 'joined' })
    story.finish('pull', 'm', { success: false })
    expect(story.begin('pull', 'm', { requestId: 'fresh' })).toMatchObject({ kind: 'granted' })
  })

  it('is forgotten a minute after the end, like any other', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'm', { requestId: 'joined' })
    story.finish('pull', 'm', { success: false })
    story.tick(ENDED_REMEMBERED_MS)
    expect(story.begin('pull', 'm', { requestId: 'joined' })).toMatchObject({ kind: 'granted' })
  })

  it('is remembered through the queue and the grant', () => {
    const story = new LawStory()
    story.begin('index', 'm')
    story.begin('index', 'n', { requestId: 'first' })
    expect(story.begin('index', 'n', { requestId: 'joined' })).toMatchObject({ kind: 'queued' })
    story.finish('index', 'm', { success: false })
    story.begin('index', 'n')
    story.finish('index', 'n', { success: false })
    expect(story.begin('index', 'n', { requestId: 'joined' })).toMatchObject({ end: 'failed' })
  })

  it('is answered as the one that waited: skip', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'n', { requestId: 'first' })
    story.begin('pull', 'n', { requestId: 'joined' })
    story.finish('pull', 'm', { value: '7' })
    story.run({ kind: 'unref', resource: 'a', node: 'n' })
    expect(story.begin('pull', 'n', { requestId: 'joined' })).toEqual({ kind: 'skip', value: '7' })
    expect(story.state('a', 'operation').references).toMatchObject([{ node: 'm' }])
  })

  it('counts once however often it is sent, and the newest few are kept', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    for (let index = 0; index < 2 * JOINED_PER_STANDING_MAX; index += 1) {
      story.begin('pull', 'm', { requestId: `joined-${index}` })
      story.begin('pull', 'm', { requestId: `joined-${index}` })
    }
    const [hold] = story.state('a', 'operation').holds
    expect(hold?.steps[0]?.joined).toHaveLength(JOINED_PER_STANDING_MAX)
    story.finish('pull', 'm', { success: false })
    const last = `joined-${2 * JOINED_PER_STANDING_MAX - 1}`
    expect(story.begin('pull', 'm', { requestId: last })).toMatchObject({ code: 'ended' })
  })

  it('is not remembered when it asked for another version', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { version: '1' })
    expect(story.begin('pull', 'm', { version: '2', requestId: 'other' })).toMatchObject({
      code: 'bad_request',
    })
    story.finish('pull', 'm', { success: false })
    expect(story.begin('pull', 'm', { version: '2', requestId: 'other' })).toMatchObject({
      kind: 'granted',
    })
  })
})
