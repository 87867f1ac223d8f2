import { describe, expect, it } from 'vitest'
import { createError } from '../../../src/engine/errors/errors.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('release', () => {
  it('gives the lock to the next at once', async () => {
    const { locks, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    const next = locks.acquire('a')
    await lock.release()
    expect((await next).isHeld).toBe(true)
    expect(engine.sentOf('release')).toHaveLength(1)
  })

  it('can be called again, and at the same time: all calls are one', async () => {
    const { locks, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    const [first, second] = [lock.release(), lock.release()]
    expect(first).toBe(second)
    await Promise.all([first, second])
    await lock.release()
    await lock[Symbol.asyncDispose]()
    expect(engine.sentOf('release')).toHaveLength(1)
  })

  it('does not reject because the lock had expired', async () => {
    const { locks, clock, connect } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s', renew: false })
    await clock.advance(10_000)
    const other = await connect().acquire('a')
    await lock.release()
    expect(other.isHeld).toBe(true)
    expect(await locks.tryAcquire('a')).toBeNull()
  })

  it('does not reject because the lock was forced, also when its handle had not noticed', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a')
    await locks.forceRelease('a')
    await lock.release()
    expect(lock.isHeld).toBe(false)
  })

  it('frees what the holder gave up trusting and the engine still has', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    engine.fail('renew', 'lose-answer')
    await clock.advance(9_950)
    expect(lock.isHeld).toBe(false)
    expect(await locks.tryAcquire('a')).toBeNull()
    await lock.release()
    expect(await locks.tryAcquire('a')).not.toBeNull()
  })

  it('whose answer is lost is sent again until it is heard', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    engine.fail('release', 'lose-answer', 2)
    const releasing = lock.release()
    await clock.advance(1_000)
    await releasing
    expect(engine.sentOf('release')).toHaveLength(3)
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })

  it('rejects if the engine stays out of reach, and says that it may have happened', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    engine.fail('release', 'lose-request')
    const releasing = rejectionOf(lock.release())
    await clock.advance(10_000)
    expect(await releasing).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
  })

  it('rejects at once with an error that trying again does not help', async () => {
    const { locks, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    engine.fail('release', createError('LOCK_STORAGE_FAILED', 'the disk is full'))
    expect(await rejectionOf(lock.release())).toMatchObject({ code: 'LOCK_STORAGE_FAILED' })
  })
})

describe('await using', () => {
  it('releases at the end of the block', async () => {
    const { locks } = openVirtualLocks()
    {
      await using lock = await locks.acquire('a')
      expect(lock.isHeld).toBe(true)
    }
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })

  it('leaves the error of the block alone when the release fails too', async () => {
    const { locks, engine } = openVirtualLocks()
    const own = new Error('my own')
    engine.fail('release', createError('LOCK_STORAGE_FAILED', 'the disk is full'))
    const run = async (): Promise<void> => {
      await using lock = await locks.acquire('a')
      expect(lock.isHeld).toBe(true)
      throw own
    }
    expect(await rejectionOf(run())).toBe(own)
  })
})

describe('detach', () => {
  it('stops the renewal and lets the lease run out', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    {
      await using lock = await locks.acquire('a', { ttl: '10s' })
      lock.detach()
    }
    expect(engine.sentOf('release')).toHaveLength(0)
    expect(await locks.tryAcquire('a')).toBeNull()
    await clock.advance(10_000)
    expect(engine.sentOf('renew')).toHaveLength(0)
    expect(await locks.tryAcquire('a')).not.toBeNull()
  })

  it('still allows a release by hand', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a')
    lock.detach()
    await lock.release()
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })
})
