import { describe, expect, it } from 'vitest'
import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../src/law/model/limits.ts'
import { LawStory } from './world/law-story.ts'

const id = { requestId: 'i' }

describe('asking again with the same request id', () => {
  it('for what is held gets the same token and counts, and counts once', () => {
    const story = new LawStory()
    const first = story.acquire('x', 'write', id)
    expect(story.acquire('x', 'write', id)).toEqual(first)
    expect(story.state().holds[0]?.steps).toHaveLength(1)
  })

  it('for what is held makes the lease later', () => {
    const story = new LawStory()
    story.acquire('x', 'write', { ...id, ttlMs: 1_000 })
    story.tick(900)
    expect(story.acquire('x', 'write', { ...id, ttlMs: 1_000 })).toMatchObject({ leaseMs: 1_000 })
  })

  it('for what is waited for gets the same place, and queues once', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', id)
    story.wait('z')
    expect(story.wait('y', 'write', id)).toEqual({ kind: 'queued', position: 1 })
    expect(story.queue()).toEqual(['y', 'z'])
  })

  it('for what is waited for extends the wait', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', { ...id, waitMs: 1_000 })
    story.tick(900)
    story.wait('y', 'write', { ...id, waitMs: 1_000 })
    story.pass(900)
    expect(story.queue()).toEqual(['y'])
    expect(story.acquire('y', 'write', id)).toMatchObject({ kind: 'queued' })
    story.pass(100)
    expect(story.queue()).toEqual([])
  })

  it('never deadlocks on itself', () => {
    const story = new LawStory()
    story.acquire('x', 'read', id)
    story.wait('y')
    expect(story.wait('x', 'read', id)).toMatchObject({ kind: 'granted', reads: 1 })
  })

  it.each(['held', 'waited for', 'over'])('in another mode is a bad request if it is %s', (how) => {
    const story = new LawStory()
    if (how === 'waited for') story.acquire('y')
    story.wait('x', 'write', id)
    if (how === 'over') story.release('x')
    const before = story.state()
    expect(story.wait('x', 'read', id)).toMatchObject({ code: 'bad_request' })
    expect(story.state()).toEqual(before)
  })

  it('is another request for another owner and on another key', () => {
    const story = new LawStory()
    story.acquire('x', 'write', id)
    expect(story.acquire('y', 'write', id)).toMatchObject({ code: 'held' })
    expect(story.acquire('x', 'write', { ...id, key: 'b' })).toMatchObject({ kind: 'granted' })
  })
})

describe('another request id of the same owner', () => {
  it('is another request with its own step', () => {
    const story = new LawStory()
    story.acquire('x', 'write', id)
    expect(story.acquire('x', 'write', { requestId: 'j' })).toMatchObject({ writes: 2 })
  })

  it('is another request with its own place', () => {
    const story = new LawStory()
    story.acquire('x')
    story.wait('y', 'write', id)
    story.wait('y', 'write', { requestId: 'j' })
    expect(story.queue()).toEqual(['y', 'y'])
  })
})

describe('a late copy of a request that is over is told how it ended, and changes nothing', () => {
  it.each<[string, (story: LawStory) => void, object]>([
    [
      'released',
      (story) => {
        story.acquire('x', 'write', id)
        story.release('x')
      },
      { code: 'ended', end: 'released' },
    ],
    [
      'expired',
      (story) => {
        story.acquire('x', 'write', { ...id, ttlMs: 1_000 })
        story.tick(1_000)
      },
      { code: 'ended', end: 'expired' },
    ],
    [
      'forced',
      (story) => {
        story.acquire('x', 'write', id)
        story.run({ kind: 'force', key: 'a' })
      },
      { code: 'ended', end: 'forced' },
    ],
    [
      'refused, because it was held',
      (story) => {
        story.acquire('y')
        story.acquire('x', 'write', id)
        story.release('y')
      },
      { code: 'held' },
    ],
    [
      'refused, because it would have waited for ever',
      (story) => {
        story.acquire('z', 'write', { party: 'p' })
        story.wait('x', 'write', { ...id, party: 'p' })
        story.release('z')
      },
      { code: 'deadlock' },
    ],
    [
      'refused, because another waits to upgrade',
      (story) => {
        story.acquire('x', 'read')
        story.acquire('y', 'read')
        story.wait('y', 'write')
        story.acquire('x', 'write', id)
        story.release('y')
        story.release('y')
      },
      { code: 'upgrade_conflict' },
    ],
    [
      'timed out',
      (story) => {
        story.acquire('y')
        story.wait('x', 'write', { ...id, waitMs: 1_000 })
        story.tick(1_000)
        story.release('y')
      },
      { code: 'timeout' },
    ],
    [
      'cancelled while it waited',
      (story) => {
        story.acquire('y')
        story.wait('x', 'write', id)
        story.cancel('x')
        story.release('y')
      },
      { code: 'cancelled' },
    ],
    [
      'cancelled after its grant was made',
      (story) => {
        story.acquire('y')
        story.wait('x', 'write', id)
        story.release('y')
        story.cancel('x')
      },
      { code: 'ended', end: 'cancelled' },
    ],
    [
      'cancelled before it arrived',
      (story) => {
        const outcome = story.cancel('x', 'i')
        expect(outcome).toEqual({ kind: 'cancelled', cancelled: false })
      },
      { code: 'cancelled' },
    ],
    [
      'left without the read hold that it wanted to upgrade',
      (story) => {
        story.acquire('x', 'read')
        story.acquire('y', 'read')
        story.wait('x', 'write', id)
        story.release('x')
        story.release('y')
      },
      { code: 'not_holder' },
    ],
  ])('%s', (_, end, answer) => {
    const story = new LawStory()
    end(story)
    expect(story.wait('x', 'write', id)).toMatchObject({ kind: 'refused', ...answer })
    const before = story.state()
    expect(story.wait('x', 'write', id)).toMatchObject({ kind: 'refused', ...answer })
    expect(story.state()).toEqual(before)
    expect(story.state().holds.some(({ owner, writes }) => owner === 'x' && writes > 0)).toBe(false)
  })

  it('one step of a hold that goes on', () => {
    const story = new LawStory()
    story.acquire('x', 'read', { requestId: 'i' })
    story.acquire('x', 'read', { requestId: 'j' })
    story.release('x')
    expect(story.acquire('x', 'read', { requestId: 'j' })).toMatchObject({ end: 'released' })
    expect(story.acquire('x', 'read', { requestId: 'i' })).toMatchObject({
      kind: 'granted',
      reads: 1,
    })
  })
})

describe('release with a request id', () => {
  it('takes effect once, however often it arrives', () => {
    const story = new LawStory()
    story.acquire('x')
    story.acquire('x')
    expect(story.release('x', id)).toEqual({ kind: 'released', reads: 0, writes: 1 })
    expect(story.release('x', id)).toEqual({ kind: 'released', reads: 0, writes: 1 })
    expect(story.state().holds[0]).toMatchObject({ writes: 1 })
  })

  it('is told the same after the hold has ended', () => {
    const story = new LawStory()
    story.acquire('x')
    story.release('x', id)
    story.acquire('x')
    expect(story.release('x', id)).toEqual({ kind: 'released', reads: 0, writes: 0 })
    expect(story.holders()).toEqual(['x'])
  })

  it('has nothing to do with the same id of an acquire', () => {
    const story = new LawStory()
    story.acquire('x', 'write', id)
    expect(story.release('x', id)).toMatchObject({ kind: 'released' })
  })

  it('in another mode is a bad request', () => {
    const story = new LawStory()
    story.acquire('x')
    story.acquire('x', 'read')
    story.release('x', { ...id, mode: 'write' })
    expect(story.release('x', { ...id, mode: 'read' })).toMatchObject({ code: 'bad_request' })
    expect(story.release('x', id)).toMatchObject({ kind: 'released', reads: 1 })
  })

  it('that was refused does not end what its owner got since', () => {
    const story = new LawStory()
    story.acquire('x')
    story.run({ kind: 'force', key: 'a' })
    const refused = { kind: 'refused', code: 'not_holder', end: 'forced' }
    expect(story.release('x', id)).toEqual(refused)
    story.acquire('x')
    expect(story.release('x', id)).toEqual(refused)
    expect(story.holders()).toEqual(['x'])
  })

  it('that was refused in one mode is refused while it holds in another', () => {
    const story = new LawStory()
    story.acquire('x', 'read')
    expect(story.release('x', { ...id, mode: 'write' })).toMatchObject({ code: 'not_holder' })
    story.acquire('x', 'write')
    expect(story.release('x', { ...id, mode: 'write' })).toMatchObject({ code: 'not_holder' })
    expect(story.release('x', { ...id, mode: 'read' })).toMatchObject({ code: 'bad_request' })
  })

  it('and a token is not remembered if it was refused: no later hold has that token', () => {
    const story = new LawStory()
    expect(story.release('x', { ...id, token: 1 })).toMatchObject({ code: 'not_holder' })
    expect(story.last.changes).toEqual([])
    story.acquire('y')
    story.release('y')
    story.acquire('x')
    expect(story.release('x', { ...id, token: 1 })).toMatchObject({ code: 'stale_token' })
    expect(story.last.changes).toEqual([])
  })
})

describe('the memory of ended requests', () => {
  it('lasts for a minute', () => {
    const story = new LawStory()
    story.acquire('x', 'write', id)
    story.release('x')
    story.tick(ENDED_REMEMBERED_MS - 1)
    expect(story.acquire('x', 'write', id)).toMatchObject({ code: 'ended' })
    story.tick(1)
    expect(story.acquire('x', 'write', id)).toMatchObject({ kind: 'granted', token: 2 })
  })

  it('is bounded: the newest of a key are kept', () => {
    const story = new LawStory()
    for (let index = 0; index <= ENDED_PER_KEY_MAX; index += 1) {
      story.acquire('x', 'write', { requestId: `${index}` })
      story.release('x')
    }
    expect(story.acquire('x', 'write', { requestId: '1' })).toMatchObject({ code: 'ended' })
    expect(story.acquire('x', 'write', { requestId: '0' })).toMatchObject({ kind: 'granted' })
  })

  it('of what granted nothing need not outlive the process', () => {
    const story = new LawStory()
    story.acquire('x', 'write', id)
    story.acquire('y')
    expect(story.last.changes).toMatchObject([{ kind: 'end-remembered', volatile: true }])
    story.release('x')
    expect(story.last.changes).toContainEqual(
      expect.objectContaining({ kind: 'end-remembered', volatile: false }),
    )
  })
})
