import { describe, expect, it } from 'vitest'
import type { LockError } from '../../../src/engine/errors/errors.ts'
import { createLocks } from '../../../src/locks/create-locks.ts'
import { BEAT_MS, GRACE_MS, openScene } from '../session-scene.ts'

function reasonOf(signal: AbortSignal): unknown {
  return (signal.reason as LockError).details['reason']
}

describe('a lock that is held in a session', () => {
  it('outlives its lease for as long as the server hears from the process, without a renewal', async () => {
    const { locks, pass, sent, store } = await openScene()
    const lock = await locks.acquire('k', { ttl: 3_000 })
    await pass(60_000, true)
    expect(lock.isHeld).toBe(true)
    expect((await store.read({ kind: 'inspect', key: 'k' })).holders[0]?.token).toBe(lock.token)
    expect(sent.map(({ kind }) => kind)).toEqual(['acquire'])
    await lock.release()
    expect((await store.read({ kind: 'inspect', key: 'k' })).holders).toEqual([])
  })

  it('is given back when it is not trusted any more, though the session lives on', async () => {
    const { locks, clock, store } = await openScene()
    const lock = await locks.acquire('k', { ttl: 10_000 })
    const holders = async (): Promise<number> =>
      (await store.read({ kind: 'inspect', key: 'k' })).holders.length
    while (lock.isHeld) {
      await clock.advance(BEAT_MS / 20)
      await store.apply({ kind: 'touch-session', session: 's' })
    }
    expect(await holders()).toBe(1)
    for (let passed = 0; passed < GRACE_MS; passed += BEAT_MS) {
      await clock.advance(BEAT_MS)
      await store.apply({ kind: 'touch-session', session: 's' })
    }
    expect(await holders()).toBe(0)
  })

  it('is not taken for an earlier grant of its owner that was undone', async () => {
    const { locks, tell } = await openScene()
    const lock = await locks.acquire('k')
    const { key, owner, token } = lock
    const loss = { kind: 'hold', namespace: 'lock', key, owner, end: 'unclaimed' } as const
    tell({ ...loss, token: token - 1 })
    expect(lock.isHeld).toBe(true)
    tell({ ...loss, token })
    expect(lock.isHeld).toBe(false)
  })

  it('is trusted until its lease has passed since the last heartbeat that counts', async () => {
    const { locks, clock, pass, store } = await openScene()
    const lock = await locks.acquire('k', { ttl: 20_000 })
    const asked = { kind: 'acquire', key: 'k', owner: 'b', requestId: '1', waitMs: 60_000 } as const
    const next = store.apply(asked)
    let grantedAtMs = 0
    void Promise.resolve(next).then(() => {
      grantedAtMs = clock.nowMs()
    })
    let abortedAtMs = 0
    lock.signal.addEventListener('abort', () => {
      abortedAtMs = clock.nowMs()
    })
    await pass(10_000, true)
    const confirmedAtMs = clock.nowMs()
    expect(lock.remainingMs).toBe(20_000 - 200)
    await pass(30_000, false)
    expect(abortedAtMs).toBe(confirmedAtMs + 20_000 - 200)
    expect(grantedAtMs).toBe(confirmedAtMs + 20_000)
    expect(reasonOf(lock.signal)).toBe('unconfirmed')
  })

  it('is confirmed after a long wait, under the same request id', async () => {
    const { locks, pass, sent, store } = await openScene()
    await store.apply({ kind: 'acquire', key: 'k', owner: 'b', requestId: '1', ttlMs: 600_000 })
    const acquiring = locks.acquire('k')
    await pass(300_000, true)
    await store.apply({ kind: 'release', key: 'k', owner: 'b' })
    const lock = await acquiring
    expect(lock.isHeld).toBe(true)
    expect(sent).toEqual([sent[0], { ...sent[0], waitMs: 0 }])
  })

  it('does not count a heartbeat that was sent before its answer arrived', async () => {
    const { clock, locks, store } = await openScene()
    const acquiring = locks.acquire('k', { ttl: 5_000 })
    await store.apply({ kind: 'touch-session', session: 's' })
    const lock = await acquiring
    await clock.advance(4_949)
    expect(lock.isHeld).toBe(true)
    await clock.advance(1)
    expect(lock.isHeld).toBe(false)
  })

  it('is lost at once when the session says so, and says why', async () => {
    const { locks, tell } = await openScene()
    const lock = await locks.acquire('k')
    const other = await locks.acquire('other')
    const loss = { kind: 'hold', namespace: 'lock', key: 'k', token: lock.token } as const
    tell({ ...loss, owner: 'somebody', end: 'forced' })
    tell({ ...loss, namespace: 'operation', owner: lock.owner, end: 'forced' })
    expect(lock.isHeld).toBe(true)
    tell({ ...loss, owner: lock.owner, end: 'forced' })
    expect(lock.signal.aborted).toBe(true)
    expect(reasonOf(lock.signal)).toBe('forced')
    expect(other.isHeld).toBe(true)
  })

  it('is asked for when the connection was made anew, and is lost if it does not stand', async () => {
    const { locks, pass, sent, reconnect, store } = await openScene()
    const lock = await locks.acquire('k')
    const other = await locks.acquire('other')
    await store.apply({ kind: 'force', key: 'other' })
    reconnect()
    await pass(BEAT_MS, true)
    expect(sent.map(({ kind }) => kind)).toEqual(['acquire', 'acquire', 'renew', 'renew'])
    expect(lock.isHeld).toBe(true)
    expect(reasonOf(other.signal)).toBe('forced')
    await pass(60_000, true)
    expect(lock.isHeld).toBe(true)
  })

  it('counts no heartbeat after a reconnection before the engine has said that it stands', async () => {
    const { clock, locks, pass, reconnect, failNext } = await openScene()
    const lock = await locks.acquire('k', { ttl: 10_000 })
    await pass(5_000, true)
    const confirmedAtMs = clock.nowMs()
    failNext('renew', Number.POSITIVE_INFINITY)
    reconnect()
    await pass(9_500, true)
    expect(lock.isHeld).toBe(true)
    await pass(500, true)
    expect(lock.isHeld).toBe(false)
    expect(clock.nowMs()).toBe(confirmedAtMs + 10_000)
  })

  it('asks again after a reconnection for as long as it is not answered', async () => {
    const { locks, pass, reconnect, failNext } = await openScene()
    const lock = await locks.acquire('k', { ttl: 10_000 })
    failNext('renew', 3)
    reconnect()
    await pass(60_000, true)
    expect(lock.isHeld).toBe(true)
  })

  it('asks for a thread that sends heartbeats only when it is held for longer than a moment', async () => {
    const { locks, pass, useThread } = await openScene()
    await locks.withLock('k', () => {})
    const lock = await locks.acquire('k')
    await pass(BEAT_MS, true)
    expect(useThread).not.toHaveBeenCalled()
    await pass(2 * BEAT_MS, true)
    expect(useThread).toHaveBeenCalled()
    await lock.release()
  })

  it('runs out after it was detached, although the session goes on', async () => {
    const { locks, pass, store } = await openScene()
    const lock = await locks.acquire('k', { ttl: 20_000 })
    await pass(10_000, true)
    lock.detach()
    await pass(15_000, true)
    expect(lock.isHeld).toBe(true)
    await pass(10_000, true)
    expect(lock.isHeld).toBe(false)
    expect((await store.read({ kind: 'inspect', key: 'k' })).holders).toEqual([])
  })

  it.each([
    ['with its session when the process says good-bye', 'close-session'],
    ['with its lease when the process dies', 'silence'],
  ])('ends %s, even if it was detached', async (_, end) => {
    const { locks, pass, store } = await openScene()
    const lock = await locks.acquire('k', { ttl: 60_000 })
    lock.detach()
    if (end === 'close-session') await store.apply({ kind: 'close-session', session: 's' })
    else await pass(60_000, false)
    expect((await store.read({ kind: 'inspect', key: 'k' })).holders).toEqual([])
  })
})

describe('a lock with an owner of its own that was detached', () => {
  it('outlives the session of its process by what is left of its lease', async () => {
    const { clock, locks, store } = await openScene()
    const holders = async (): Promise<unknown[]> =>
      (await store.read({ kind: 'inspect', key: 'k' })).holders.map(({ owner }) => owner)
    {
      await using lock = await locks.acquire('k', { ttl: 60_000, owner: 'job-7' })
      lock.detach()
    }
    await locks.close()
    await store.apply({ kind: 'close-session', session: 's' })
    await clock.advance(59_999)
    expect(await holders()).toEqual(['job-7'])
    await clock.advance(1)
    expect(await holders()).toEqual([])
  })

  it('can be taken on elsewhere under the same owner', async () => {
    const { locks, store } = await openScene()
    const lock = await locks.acquire('k', { owner: 'job-7' })
    lock.detach()
    const elsewhere = createLocks(store)
    await using taken = await elsewhere.acquire('k', { owner: 'job-7', wait: 0 })
    expect(taken.token).toBe(lock.token)
  })
})

describe('a lock is not held in a session', () => {
  it.each([
    ['that is not to be renewed', { renew: false }],
    ['whose owner others may have too', { owner: 'shared' }],
    ['whose lease is shorter than a few heartbeats', { ttl: 2_000 }],
  ])('%s', async (_, options) => {
    const { locks, store } = await openScene()
    await using lock = await locks.acquire('k', options)
    expect(lock.isHeld).toBe(true)
    const { holders } = await store.read({ kind: 'inspect', key: 'k' })
    expect(holders[0]?.session).toBeUndefined()
  })
})

describe('an operation', () => {
  it('is held in the session, and ends with it', async () => {
    const { locks, pass, store } = await openScene()
    const begun = await locks.begin('pull', 'layer', { node: 'n' })
    expect(begun.kind).toBe('acquired')
    const query = { kind: 'inspect', namespace: 'operation', key: 'layer' } as const
    expect((await store.read(query)).holders[0]?.session).toBe('s')
    await pass(60_000, true)
    expect(begun.kind === 'acquired' && begun.operation.isHeld).toBe(true)
    await pass(30_000, false)
    expect(begun.kind === 'acquired' && begun.operation.isHeld).toBe(false)
    expect((await store.read(query)).holders).toEqual([])
  })

  it('that another process of the same node runs is renewed as usual', async () => {
    const { locks, pass, store, sent } = await openScene()
    await store.apply({ kind: 'open-session', session: 'other', graceMs: 600_000 })
    const asked = { kind: 'begin', type: 'pull', resource: 'layer', node: 'n' } as const
    await store.apply({ ...asked, session: 'other', ttlMs: 30_000 })
    const begun = await locks.begin('pull', 'layer', { node: 'n' })
    await pass(60_000, true)
    expect(begun.kind === 'acquired' && begun.operation.isHeld).toBe(true)
    expect(sent.filter(({ kind }) => kind === 'begin').length).toBeGreaterThan(3)
  })
})
