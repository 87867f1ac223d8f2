import { describe, expect, it } from 'vitest'
import { createError } from '../../src/engine/errors/errors.ts'
import type { LockHandle } from '../../src/locks/lease/lock-handle.ts'
import { openVirtualLocks, rejectionOf } from './virtual-locks.ts'

describe('withLock', () => {
  it('runs the function while the lock is held and resolves to what it returns', async () => {
    const { locks } = openVirtualLocks()
    const result = await locks.withLock('a', async (lock) => {
      expect(lock.isHeld).toBe(true)
      expect(await locks.tryAcquire('a')).toBeNull()
      return 42
    })
    expect(result).toBe(42)
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })

  it('takes options before the function, and functions that are not async', async () => {
    const { locks } = openVirtualLocks()
    expect(await locks.withLock('a', { mode: 'read' }, (lock) => lock.mode)).toBe('read')
    expect(await locks.withLock('a', undefined, (lock) => lock.mode)).toBe('write')
  })

  it('rejects with the very error of the function, and releases', async () => {
    const { locks } = openVirtualLocks()
    const own = new Error('my own')
    const failing = locks.withLock('a', () => {
      throw own
    })
    expect(await rejectionOf(failing)).toBe(own)
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })

  it('does not hide the error of the function behind a failing release', async () => {
    const { locks, engine } = openVirtualLocks()
    const own = new Error('my own')
    engine.fail('release', createError('LOCK_STORAGE_FAILED', 'the disk is full'))
    expect(await rejectionOf(locks.withLock('a', () => Promise.reject(own)))).toBe(own)
  })

  it('does not hide the result of the function behind a failing release', async () => {
    const { locks, engine } = openVirtualLocks()
    engine.fail('release', createError('LOCK_STORAGE_FAILED', 'the disk is full'))
    expect(await locks.withLock('a', () => 42)).toBe(42)
  })

  it('rejects with LOCK_LOST if the lock was lost meanwhile, and keeps the result in the details', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('renew', 'refuse-connection')
    const running = rejectionOf(
      locks.withLock('a', { ttl: '10s' }, async () => {
        await new Promise<void>((resolve) => void clock.setTimer(15_000, resolve))
        return 42
      }),
    )
    await clock.advance(15_000)
    expect(await running).toMatchObject({
      code: 'LOCK_LOST',
      details: { key: 'a', reason: 'unconfirmed', result: 42 },
    })
  })

  it('rejects with LOCK_LOST if only the release brings to light that the lock was lost', async () => {
    const { locks, connect } = openVirtualLocks()
    const running = locks.withLock('a', async () => {
      await connect().forceRelease('a')
    })
    expect(await rejectionOf(running)).toMatchObject({ code: 'LOCK_LOST' })
  })

  it('an error of the function counts more than the loss', async () => {
    const { locks } = openVirtualLocks()
    const own = new Error('my own')
    const running = locks.withLock('a', async () => {
      await locks.forceRelease('a')
      throw own
    })
    expect(await rejectionOf(running)).toBe(own)
  })

  it('a release whose answer was lost is not taken for a loss', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('release', 'lose-answer', 1)
    const running = locks.withLock('a', () => 42)
    await clock.advance(1_000)
    expect(await running).toBe(42)
  })

  it('a function that releases early, or detaches, gets its result', async () => {
    const { locks } = openVirtualLocks()
    const release = async (lock: LockHandle): Promise<number> => {
      await lock.release()
      return 1
    }
    expect(await locks.withLock('a', release)).toBe(1)
    const detached = locks.withLock('a', (lock) => {
      lock.detach()
      return 2
    })
    expect(await detached).toBe(2)
    expect(await locks.tryAcquire('a')).toBeNull()
  })

  it('rejects a call without a function before it asks for the lock', async () => {
    const { locks, engine } = openVirtualLocks()
    const misuse = locks.withLock as unknown as (key: string, options: unknown) => Promise<unknown>
    for (const options of [undefined, {}, 'write']) {
      const error = await rejectionOf(misuse.call(locks, 'a', options))
      expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
    }
    expect(engine.sent).toEqual([])
  })
})
