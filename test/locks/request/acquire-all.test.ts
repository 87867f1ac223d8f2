import { describe, expect, it } from 'vitest'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('acquireAll', () => {
  it('acquires in byte order, each key once, and releases in the reverse order', async () => {
    const { locks, engine } = openVirtualLocks()
    // In UTF-16 order the last two would change places.
    const set = await locks.acquireAll(['b', '\u{1f512}', '\uffee', 'a', 'b', 'B'])
    const keys = ['B', 'a', 'b', '\uffee', '\u{1f512}']
    expect(set.locks.map(({ key }) => key)).toEqual(keys)
    expect(engine.sentOf('acquire').map(({ key }) => key)).toEqual(keys)
    for (const { key, token } of set.locks) expect(set.token(key)).toBe(token)
    expect(() => set.token('c')).toThrow(/"c" is not one of the locks/)
    await set.release()
    expect(engine.sentOf('release').map(({ key }) => key)).toEqual(keys.toReversed())
    expect(set.isHeld).toBe(false)
  })

  it('is all or none: what was held is given back if one cannot be had', async () => {
    const { locks, clock, connect } = openVirtualLocks()
    await connect().acquire('b')
    const failing = rejectionOf(locks.acquireAll(['a', 'b', 'c'], { wait: '1s' }))
    await clock.advance(1_000)
    expect(await failing).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT', details: { key: 'b' } })
    expect((await locks.list()).locks.map(({ key }) => key)).toEqual(['b'])
  })

  it('has one wait for all keys together', async () => {
    const { locks, clock, connect } = openVirtualLocks()
    const other = connect()
    const [a] = [await other.acquire('a'), await other.acquire('b')]
    const failing = rejectionOf(locks.acquireAll(['a', 'b'], { wait: '10s' }))
    await clock.advance(6_000)
    await a.release()
    await clock.advance(4_000)
    expect(await failing).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT', details: { key: 'b' } })
    expect(clock.nowMs()).toBe(10_000)
  })

  it('renews what it holds while it waits for the rest', async () => {
    const { locks, clock, connect } = openVirtualLocks()
    const b = await connect().acquire('b')
    const acquiring = locks.acquireAll(['a', 'b'], { ttl: '10s' })
    await clock.advance(60_000)
    expect(await connect().tryAcquire('a')).toBeNull()
    await b.release()
    const set = await acquiring
    expect(set.isHeld).toBe(true)
  })

  it('gives up at once if a lock is lost before the last one is there', async () => {
    const { locks, clock, connect, engine } = openVirtualLocks()
    await connect().acquire('b')
    const acquiring = rejectionOf(locks.acquireAll(['a', 'b'], { ttl: '10s' }))
    await clock.settle()
    engine.fail('renew', 'refuse-connection')
    await clock.advance(9_900)
    expect(await acquiring).toMatchObject({ code: 'LOCK_LOST', details: { key: 'a' } })
    expect((await locks.inspect('b')).queueLength).toBe(0)
  })

  it('an abort ends the wait and gives back what was held', async () => {
    const { locks, clock, connect } = openVirtualLocks()
    await connect().acquire('b')
    const controller = new AbortController()
    const acquiring = rejectionOf(locks.acquireAll(['a', 'b'], { signal: controller.signal }))
    await clock.settle()
    controller.abort()
    expect(await acquiring).toMatchObject({ code: 'LOCK_ABORTED' })
    expect((await locks.inspect('a')).holders).toEqual([])
  })

  it('aborts its signal when any of its locks is lost', async () => {
    const { locks, clock } = openVirtualLocks()
    const set = await locks.acquireAll(['a', 'b'], { ttl: '30s' })
    const { signal } = set
    await locks.forceRelease('b')
    await clock.advance(10_000)
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', details: { key: 'b' } })
    expect(set.isHeld).toBe(false)
    await set.release()
    expect((await locks.list()).locks).toEqual([])
  })

  it('is released by await using', async () => {
    const { locks } = openVirtualLocks()
    {
      await using set = await locks.acquireAll(['a', 'b'], { mode: 'read' })
      expect(set.locks.map(({ mode }) => mode)).toEqual(['read', 'read'])
    }
    expect((await locks.list()).locks).toEqual([])
  })

  it('two sets of the same keys never wait for each other in a circle', async () => {
    const { locks, connect } = openVirtualLocks()
    const run = async (keys: string[]): Promise<void> => {
      const set = await connect().acquireAll(keys)
      await set.release()
    }
    const runs = Array.from({ length: 20 }, (_, n) => run(n % 2 === 0 ? ['a', 'b'] : ['b', 'a']))
    await Promise.all(runs)
    expect((await locks.list()).locks).toEqual([])
  })

  it('needs at least one key', async () => {
    const { locks } = openVirtualLocks()
    expect(await rejectionOf(locks.acquireAll([]))).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })
})
