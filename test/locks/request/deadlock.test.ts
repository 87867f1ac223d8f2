import { describe, expect, it } from 'vitest'
import type { LockHandle } from '../../../src/locks/lease/lock-handle.ts'
import { openVirtualLocks, rejectionOf, type VirtualLocks } from '../virtual-locks.ts'

/** Locks that follow tasks. */
function openFollowing(): VirtualLocks {
  const opened = openVirtualLocks()
  const connect: VirtualLocks['connect'] = (options = {}) =>
    opened.connect({ followTasks: true, ...options })
  return { ...opened, locks: connect({ owner: 'alice' }), connect }
}

it('without followTasks a task that waits for itself waits until its time is over', async () => {
  const { locks, clock } = openVirtualLocks()
  const nested = rejectionOf(
    locks.withLock('a', () => locks.withLock('a', { wait: '1s' }, () => 1)),
  )
  await clock.advance(1_000)
  expect(await nested).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT' })
})

it('followTasks has to be true or false', () => {
  const { connect } = openVirtualLocks()
  expect(() => connect({ followTasks: 'yes' as never })).toThrow(/followTasks has to be/)
})

describe('deadlocks', () => {
  it('a task that would wait for itself is told so at once', async () => {
    const { locks } = openFollowing()
    const nested = locks.withLock('a', async () => {
      await Promise.resolve()
      return locks.withLock('a', () => 1)
    })
    const error = await rejectionOf(nested)
    expect(error).toMatchObject({ code: 'LOCK_DEADLOCK', details: { key: 'a' } })
    expect((error as Error).message).toMatch(/the same task already holds it/)
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('also when it asks with acquire, acquireAll, or through another connection', async () => {
    const { locks, connect } = openFollowing()
    const other = connect()
    for (const ask of [
      () => locks.acquire('a'),
      () => locks.acquireAll(['0', 'a']),
      () => other.withLock('a', () => 1),
    ]) {
      const nested = locks.withLock('a', async () => void (await ask()))
      expect(await rejectionOf(nested)).toMatchObject({ code: 'LOCK_DEADLOCK' })
    }
    expect((await locks.list()).locks).toEqual([])
  })

  it('also several levels deep', async () => {
    const { locks } = openFollowing()
    const nested = locks.withLock('a', () =>
      locks.withLock('b', () => locks.withLock('c', () => locks.withLock('a', () => 1))),
    )
    expect(await rejectionOf(nested)).toMatchObject({ code: 'LOCK_DEADLOCK' })
  })

  it('two tasks that take two locks in opposite order: the one that closes the circle is refused', async () => {
    const { locks, clock } = openFollowing()
    const gate = new Promise<void>((resolve) => void clock.setTimer(10, resolve))
    const cross = (one: string, two: string): Promise<string> =>
      locks.withLock(one, async () => {
        await gate
        return locks.withLock(two, () => 'done')
      })
    const outcomes = Promise.allSettled([cross('a', 'b'), cross('b', 'a')])
    await clock.advance(10)
    const [first, second] = await outcomes
    expect(first).toMatchObject({ status: 'fulfilled', value: 'done' })
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'LOCK_DEADLOCK' } })
  })

  it('parallel branches of one task that want the same lock wait for each other', async () => {
    const { locks, clock } = openFollowing()
    const order: number[] = []
    const branch = async (n: number): Promise<void> => {
      await new Promise<void>((resolve) => void clock.setTimer(n * 10, resolve))
      await locks.withLock('inner', async () => {
        await new Promise<void>((resolve) => void clock.setTimer(100, resolve))
        order.push(n)
      })
    }
    const running = locks.withLock('outer', () => Promise.all([0, 1, 2].map(branch)))
    await clock.advance(1_000)
    await running
    expect(order).toEqual([0, 1, 2])
  })

  it('so do branches that hold with acquire, whenever they start', async () => {
    const { locks, clock } = openFollowing()
    const branch = async (n: number): Promise<number> => {
      await new Promise<void>((resolve) => void clock.setTimer(n * 10, resolve))
      await using lock = await locks.acquire('inner')
      await new Promise<void>((resolve) => void clock.setTimer(100, resolve))
      return lock.token
    }
    const running = locks.withLock('outer', () => Promise.all([0, 1, 2].map(branch)))
    await clock.advance(1_000)
    expect(await running).toEqual([...(await running)].toSorted((a, b) => a - b))
  })

  it('branches that hold locks for each other, with help from outside, are no deadlock', async () => {
    const { locks, clock } = openFollowing()
    const pause = (ms: number): Promise<void> =>
      new Promise<void>((resolve) => void clock.setTimer(ms, resolve))
    // One branch holds b, the other waits for c, which a stranger holds who waits for b.
    const task = locks.withLock('a', () =>
      Promise.all([
        (async () => {
          await using lock = await locks.acquire('b')
          await pause(100)
          return lock.key
        })(),
        (async () => {
          await pause(50)
          await using lock = await locks.acquire('c')
          return lock.key
        })(),
      ]),
    )
    const stranger = locks.withLock('c', async () => {
      await pause(20)
      return locks.withLock('b', () => 'stranger')
    })
    await clock.advance(1_000)
    expect(await Promise.all([task, stranger])).toEqual([['b', 'c'], 'stranger'])
  })

  it('a branch that has released or lost its lock leaves the task as it was', async () => {
    const { locks, clock } = openFollowing()
    const ends: ((lock: LockHandle) => Promise<void>)[] = [
      (lock) => lock.release(),
      () => clock.advance(10_000),
    ]
    for (const end of ends) {
      const nested = locks.withLock('a', { ttl: '1h' }, async () => {
        await end(await locks.acquire('b', { ttl: '10s', renew: false }))
        await locks.acquire('a')
      })
      expect(await rejectionOf(nested)).toMatchObject({ code: 'LOCK_DEADLOCK' })
    }
  })

  it.each([
    ['succeeded', () => Promise.resolve()],
    ['failed', () => Promise.reject(new Error('my own'))],
  ])('work that outlives a withLock that %s is not part of the task any more', async (_, end) => {
    const { locks, clock } = openFollowing()
    const pause = (ms: number): Promise<void> =>
      new Promise<void>((resolve) => void clock.setTimer(ms, resolve))
    let later: Promise<LockHandle> | undefined
    const outer = locks.withLock('a', async () => {
      const inner = locks.withLock('b', () => {
        later = pause(10).then(() => locks.acquire('a'))
        return end()
      })
      await inner.catch(() => undefined)
      await pause(50)
    })
    await clock.advance(50)
    await outer
    expect(await later).toMatchObject({ key: 'a', isHeld: true })
  })

  it('a set is one party: who holds what it waits for may not wait for what it holds', async () => {
    const { locks, clock } = openFollowing()
    const crossing = locks.withLock('b', async () => {
      await new Promise<void>((resolve) => void clock.setTimer(10, resolve))
      await locks.acquire('a')
    })
    const acquiring = locks.acquireAll(['a', 'b'])
    const refused = rejectionOf(crossing)
    await clock.advance(10)
    expect(await refused).toMatchObject({ code: 'LOCK_DEADLOCK' })
    expect((await acquiring).isHeld).toBe(true)
  })

  it('an engine that does not see deadlocks is not bothered with tasks', async () => {
    const { engine, connect, clock } = openFollowing()
    engine.capabilities = { ...engine.capabilities, seesDeadlocks: false }
    const locks = connect()
    const nested = rejectionOf(
      locks.withLock('a', () => locks.withLock('a', { wait: '1s' }, () => 1)),
    )
    await clock.advance(1_000)
    expect(await nested).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT' })
    expect(engine.sentOf('acquire').map(({ party }) => party)).toEqual([undefined, undefined])
  })
})
