import { describe, expect, it } from 'vitest'
import { AbortedError, ConflictError, TimeoutError } from '../../../src/engine/errors/errors.ts'
import type { LockHandle } from '../../../src/locks/lease/lock-handle.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('acquire', () => {
  it('a free lock is granted, with what a holder has to know', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('orders/42', { ttl: '10s' })
    expect(lock).toMatchObject({ key: 'orders/42', mode: 'write', isHeld: true })
    expect(lock.owner).toMatch(/^alice-[0-9a-f]{16}-1$/)
    expect(lock.token).toBeGreaterThan(0)
    expect(lock.remainingMs).toBe(9_900)
    expect(lock.signal.aborted).toBe(false)
  })

  it('by default a caller waits until the lock is released, however long that takes', async () => {
    const { locks, clock } = openVirtualLocks()
    const first = await locks.acquire('a')
    let second: LockHandle | undefined
    const waiting = locks.acquire('a').then((lock) => {
      second = lock
    })
    await clock.advance(3_600_000)
    expect(second).toBeUndefined()
    await first.release()
    await waiting
    expect(second?.isHeld).toBe(true)
    expect(second?.token).toBeGreaterThan(first.token)
  })

  it('waiters are served in the order in which they came', async () => {
    const { locks, connect } = openVirtualLocks()
    const holder = await locks.acquire('a')
    const order: number[] = []
    const waiters = [1, 2, 3].map((n) =>
      connect().withLock('a', () => {
        order.push(n)
      }),
    )
    await holder.release()
    await Promise.all(waiters)
    expect(order).toEqual([1, 2, 3])
  })

  it('readers share a lock and a writer waits for all of them', async () => {
    const { locks, clock } = openVirtualLocks()
    const readers = [
      await locks.acquire('a', { mode: 'read' }),
      await locks.acquire('a', { mode: 'read' }),
    ]
    const writing = locks.acquire('a')
    await readers[0]?.release()
    await clock.advance(1_000)
    expect(await locks.tryAcquire('a')).toBeNull()
    await readers[1]?.release()
    expect((await writing).mode).toBe('write')
  })

  it('a wait that is over rejects with who holds the lock since when, and gives up its place', async () => {
    const { locks, connect, clock } = openVirtualLocks()
    const holder = await connect({ owner: 'bob' }).acquire('orders/42')
    await clock.advance(2_000)
    const waiting = rejectionOf(locks.acquire('orders/42', { wait: '5s' }))
    await clock.advance(5_000)
    const error = await waiting
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toMatchObject({
      code: 'LOCK_WAIT_TIMEOUT',
      applied: 'no',
      details: { key: 'orders/42', waitedMs: 5_000, holders: [{ owner: holder.owner }] },
    })
    expect((error as Error).message).toBe(
      'gave up waiting to acquire the write lock on "orders/42" after 5 s: ' +
        `held by ${holder.owner} (write) since 2030-01-01T00:00:00.000Z`,
    )
    expect(await locks.inspect('orders/42')).toMatchObject({ queueLength: 0 })
  })

  it('an abort ends the wait with the reason of its signal, and gives up the place', async () => {
    const { locks } = openVirtualLocks()
    const holder = await locks.acquire('a')
    const controller = new AbortController()
    const waiting = rejectionOf(locks.acquire('a', { signal: controller.signal }))
    const next = locks.acquire('a')
    const reason = new Error('the user left')
    controller.abort(reason)
    const error = await waiting
    expect(error).toBeInstanceOf(AbortedError)
    expect(error).toMatchObject({ code: 'LOCK_ABORTED', cause: reason, details: { key: 'a' } })
    expect(await locks.inspect('a')).toMatchObject({ queueLength: 1 })
    await holder.release()
    expect((await next).isHeld).toBe(true)
  })

  it('a signal that is aborted already changes nothing', async () => {
    const { locks } = openVirtualLocks()
    const error = await rejectionOf(locks.acquire('a', { signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'LOCK_ABORTED', details: { key: 'a' } })
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('an abort after the grant leaves the lock alone', async () => {
    const { locks } = openVirtualLocks()
    const controller = new AbortController()
    const lock = await locks.acquire('a', { signal: controller.signal })
    controller.abort()
    expect(lock.isHeld).toBe(true)
    expect(lock.signal.aborted).toBe(false)
  })

  it('an abort in the same tick as the release of the holder leaves no hold without a handle', async () => {
    const { locks, clock } = openVirtualLocks()
    const holder = await locks.acquire('a')
    const controller = new AbortController()
    const waiting = locks.acquire('a', { signal: controller.signal }).catch(() => null)
    const released = holder.release()
    controller.abort()
    await released
    const lock = await waiting
    await lock?.release()
    await clock.settle()
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('without waiting, a lock that is held is refused with its holder', async () => {
    const { locks } = openVirtualLocks()
    await locks.acquire('a')
    const error = await rejectionOf(locks.acquire('a', { wait: 0 }))
    expect(error).toBeInstanceOf(ConflictError)
    expect(error).toMatchObject({ code: 'LOCK_HELD', details: { key: 'a' } })
  })

  it('tryAcquire comes back with null when the lock is held, and with the lock when it is not', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.tryAcquire('a')
    expect(lock?.isHeld).toBe(true)
    expect(await locks.tryAcquire('a')).toBeNull()
    await lock?.release()
    expect((await locks.tryAcquire('a'))?.isHeld).toBe(true)
  })

  it('tryAcquire rejects for whatever is not contention', async () => {
    const { locks } = openVirtualLocks()
    expect(await rejectionOf(locks.tryAcquire(''))).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })

  it('two connections of one name are two owners', async () => {
    const { connect } = openVirtualLocks()
    const one = await connect({ owner: 'node-1' }).acquire('a')
    expect(await connect({ owner: 'node-1' }).tryAcquire('a')).toBeNull()
    expect(one.isHeld).toBe(true)
  })

  it('a lane and what a holder says about itself reach the engine', async () => {
    const { locks } = openVirtualLocks({ lanes: ['urgent', 'normal'] })
    await locks.acquire('a', { meta: { why: 'nightly run' } })
    const later = locks.acquire('a', { lane: 'normal' })
    const sooner = locks.acquire('a', { lane: 'urgent' })
    const { holders, queue } = await locks.inspect('a')
    expect(holders[0]?.meta).toBe('{"why":"nightly run"}')
    expect(queue.map(({ lane }) => lane)).toEqual(['urgent', 'normal'])
    await locks.close()
    await Promise.allSettled([later, sooner])
  })
})
