import { describe, expect, it } from 'vitest'
import type { OpenSession } from '../../src/law/model/commands.ts'
import { silentAtMs } from '../../src/law/sessions.ts'
import { LawStory } from './world/law-story.ts'

const AT_A = { namespace: 'lock', key: 'a' } as const
const OPEN: OpenSession = { kind: 'open-session', session: 's', graceMs: 5_000 }

function createStory(options: Partial<OpenSession> = {}): LawStory {
  const story = new LawStory()
  story.session({ ...OPEN, ...options })
  return story
}

describe('the record of a session', () => {
  it('is opened once and resumed after that', () => {
    const story = new LawStory()
    expect(story.session(OPEN)).toEqual({ kind: 'session-opened', resumed: false })
    expect(story.session(OPEN)).toEqual({ kind: 'session-opened', resumed: true })
  })

  it('counts its silence from the last thing that was received', () => {
    const story = createStory()
    story.tick(3_000)
    story.session({ kind: 'touch-session', session: 's' })
    const session = story.world.session('s')
    expect(session && silentAtMs(session)).toBe(story.nowMs + 5_000)
  })

  it('coming back counts as being heard', () => {
    const story = createStory()
    story.tick(3_000)
    story.session(OPEN)
    expect(story.world.session('s')).toMatchObject({ heardAtMs: story.nowMs })
  })

  it.each(['touch-session', 'close-session'] as const)(
    'cannot be the subject of %s when there is none',
    (kind) => {
      const story = new LawStory()
      const outcome = story.session({ kind, session: 's' })
      expect(outcome).toMatchObject({ kind: 'refused', code: 'no_session' })
      expect(story.world.session('s')).toBeUndefined()
    },
  )
})

describe('a hold in a session', () => {
  it('lives for as long as the client is heard', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's', ttlMs: 1_000 })
    for (let beat = 0; beat < 10; beat += 1) {
      story.pass(900)
      story.session({ kind: 'touch-session', session: 's' })
    }
    expect(story.holders()).toEqual(['x'])
  })

  it('is given the later lease when it is looked at', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's', ttlMs: 1_000 })
    story.tick(900)
    story.session({ kind: 'touch-session', session: 's' })
    story.pass(200)
    expect(story.last.changes).toMatchObject([
      { kind: 'hold-set', leaseOnly: true, hold: { leaseAtMs: story.nowMs + 800 } },
    ])
  })

  it('expires when its client is not heard for the length of its lease', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's', ttlMs: 1_000 })
    story.pass(1_000)
    expect(story.holders()).toEqual([])
  })

  it('is not kept by a session that keeps no leases', () => {
    const story = createStory({ keepsLeases: false })
    story.acquire('x', 'write', { session: 's', ttlMs: 1_000 })
    story.tick(900)
    story.session({ kind: 'touch-session', session: 's' })
    story.pass(100)
    expect(story.holders()).toEqual([])
  })

  it('keeps its length when its owner re-enters with a shorter one', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's', ttlMs: 10_000 })
    story.tick(9_000)
    story.session({ kind: 'touch-session', session: 's' })
    story.acquire('x', 'write', { session: 's', ttlMs: 100 })
    story.pass(9_999)
    expect(story.holders()).toEqual(['x'])
  })

  it('cannot be had in a session that does not exist, and the request is not remembered', () => {
    const story = new LawStory()
    const ask = { session: 's', requestId: 'i' }
    expect(story.acquire('x', 'write', ask)).toMatchObject({ code: 'no_session' })
    story.session(OPEN)
    expect(story.acquire('x', 'write', ask)).toMatchObject({ kind: 'granted' })
  })
})

describe('a waiter in a session', () => {
  it('keeps its place without asking, and need not claim its grant', () => {
    const story = createStory()
    story.acquire('x', 'write', { ttlMs: 1_000_000 })
    story.wait('y', 'write', { session: 's', detach: true })
    story.pass(500_000)
    expect(story.queue()).toEqual(['y'])
    story.release('x')
    story.pass(20_000)
    expect(story.holders()).toEqual(['y'])
  })

  it('stays in its session when it is asked for again without naming it', () => {
    const story = createStory()
    story.acquire('x', 'write', { ttlMs: 1_000_000 })
    story.wait('y', 'write', { session: 's', requestId: 'i' })
    story.wait('y', 'write', { detach: true, requestId: 'i' })
    story.pass(500_000)
    expect(story.queue()).toEqual(['y'])
    story.session({ kind: 'close-session', session: 's' })
    expect(story.queue()).toEqual([])
  })
})

describe('the silence of a client', () => {
  const leave = (story: LawStory): unknown => story.run({ kind: 'leave', session: 's' }, AT_A)

  it('costs its places with the grace, and no hold', () => {
    const story = createStory()
    story.acquire('x', 'read', { session: 's' })
    story.wait('y', 'write', { session: 's' })
    story.wait('z', 'read')
    story.tick(5_000)
    expect(leave(story)).toEqual({ kind: 'swept', count: 1 })
    expect(story.holders()).toEqual(['x', 'z'])
    expect(story.told).toContainEqual({
      owner: 'y',
      answer: { kind: 'refused', code: 'disconnected' },
    })
  })

  it('costs its places in parts where not all are asked for at once', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's' })
    for (const owner of ['a', 'b', 'c']) story.wait(owner, 'write', { session: 's' })
    story.world.removeSession('s')
    const counts = [1, 2, 3].map(() => story.run({ kind: 'leave', session: 's', atMost: 2 }, AT_A))
    expect(counts).toEqual([2, 2, 0].map((count) => ({ kind: 'swept', count })))
    expect([...story.holders(), ...story.queue()]).toEqual([])
  })

  it('costs an upgrade that waits, and not the hold that was to be upgraded', () => {
    const story = createStory()
    story.acquire('x', 'read', { session: 's' })
    story.acquire('y', 'read')
    story.wait('x', 'write', { session: 's' })
    story.tick(5_000)
    leave(story)
    expect(story.holders()).toEqual(['x', 'y'])
    expect(story.queue()).toEqual([])
  })

  it('costs nothing before the grace is over', () => {
    const story = createStory({ keepsLeases: false })
    story.acquire('x', 'write', { session: 's' })
    story.wait('y', 'write', { session: 's' })
    story.tick(4_999)
    expect(leave(story)).toEqual({ kind: 'swept', count: 0 })
    expect(story.queue()).toEqual(['y'])
  })

  it('does not end a hold that is granted in the very moment', () => {
    const story = createStory()
    story.acquire('x', 'write', { ttlMs: 5_000 })
    story.wait('y', 'write', { session: 's' })
    story.tick(5_000)
    leave(story)
    expect(story.holders()).toEqual(['y'])
  })

  it('costs a stream session all it has', () => {
    const story = createStory({ keepsLeases: false })
    story.acquire('x', 'write', { session: 's' })
    story.wait('y', 'write', { session: 's' })
    story.wait('z', 'write')
    story.tick(5_000)
    expect(leave(story)).toEqual({ kind: 'swept', count: 2 })
    expect(story.holders()).toEqual(['z'])
  })

  it('ends each hold with its own lease, counted from the last heartbeat', () => {
    const story = createStory()
    story.acquire('x', 'read', { session: 's', ttlMs: 10_000 })
    story.acquire('y', 'read', { session: 's', ttlMs: 60_000 })
    story.tick(4_000)
    story.session({ kind: 'touch-session', session: 's' })
    story.pass(9_999)
    expect(story.holders()).toEqual(['x', 'y'])
    story.pass(1)
    expect(story.holders()).toEqual(['y'])
    story.pass(49_999)
    expect(story.holders()).toEqual(['y'])
    story.pass(1)
    expect(story.holders()).toEqual([])
  })
})

describe('the end of a session', () => {
  it('ends its holds and waiters on every key, and the queues move', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's' })
    story.acquire('z', 'write', { key: 'b' })
    story.wait('y', 'write')
    story.wait('x', 'write', { key: 'b', session: 's' })
    story.session({ kind: 'close-session', session: 's' })
    expect(story.holders('a')).toEqual(['y'])
    expect(story.queue('b')).toEqual([])
    expect(story.told).toContainEqual({
      owner: 'x',
      answer: { kind: 'refused', code: 'disconnected' },
    })
  })

  it('is how its requests ended, for whoever asks again', () => {
    const story = createStory()
    story.acquire('x', 'write', { session: 's', requestId: 'i' })
    story.session({ kind: 'close-session', session: 's' })
    const again = story.acquire('x', 'write', { requestId: 'i' })
    expect(again).toMatchObject({ code: 'ended', end: 'disconnected' })
  })

  it('leaves what is not in it alone', () => {
    const story = createStory()
    story.acquire('x', 'read', { session: 's' })
    story.acquire('y', 'read')
    story.session({ kind: 'close-session', session: 's' })
    expect(story.holders()).toEqual(['y'])
  })

  it('ends a hold that begins in the very moment', () => {
    const story = createStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.wait('y', 'write', { session: 's' })
    story.wait('z', 'write')
    story.tick(1_000)
    story.session({ kind: 'close-session', session: 's' })
    expect(story.holders()).toEqual(['z'])
  })

  it('ends a wait that becomes an upgrade in the very moment', () => {
    const story = createStory()
    story.acquire('x', 'write', { ttlMs: 1_000 })
    story.wait('z', 'read')
    story.wait('y', 'read')
    story.wait('y', 'write', { session: 's' })
    story.tick(1_000)
    story.session({ kind: 'close-session', session: 's' })
    expect(story.holders()).toEqual(['z', 'y'])
    expect(story.queue()).toEqual([])
  })

  it('fails its operations: nobody skips because of them', () => {
    const story = createStory()
    story.begin('pull', 'm', { session: 's' })
    story.begin('pull', 'n')
    story.session({ kind: 'close-session', session: 's' })
    expect(story.holders('a', 'operation')).toEqual(['pull:n'])
    expect(story.last.events).toContainEqual(
      expect.objectContaining({ kind: 'completed', node: 'm', success: false }),
    )
  })
})
