import { describe, expect, it } from 'vitest'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('renewal', () => {
  it('is on by default and keeps a lock for as long as it is wanted', async () => {
    const { locks, clock, connect } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    await clock.advance(3_600_000)
    expect(lock.isHeld).toBe(true)
    expect(lock.remainingMs).toBeGreaterThan(6_000)
    expect(await connect().tryAcquire('a')).toBeNull()
  })

  it('comes after a third of the lease, and no lock has a timer of its own', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const before = clock.pendingTimers
    for (let n = 0; n < 100; n += 1) await locks.acquire(`key-${n}`, { ttl: '30s' })
    expect(clock.pendingTimers - before).toBeLessThanOrEqual(2)
    await clock.advance(8_700)
    expect(engine.sentOf('renew')).toHaveLength(0)
    await clock.advance(1_300)
    expect(engine.sentOf('renew')).toHaveLength(100)
  })

  it('can be turned off', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s', renew: false })
    await clock.advance(60_000)
    expect(engine.sentOf('renew')).toHaveLength(0)
    expect(lock.isHeld).toBe(false)
  })

  it('survives errors until the deadline', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    engine.fail('renew', 'refuse-connection')
    await clock.advance(9_000)
    expect(lock.isHeld).toBe(true)
    expect(engine.sentOf('renew').length).toBeGreaterThan(3)
    engine.heal()
    await clock.advance(60_000)
    expect(lock.isHeld).toBe(true)
  })

  it('whose answer was lost is sent again, and counts from the one that was answered', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    engine.fail('renew', 'lose-answer', 1)
    await clock.advance(3_500)
    expect(lock.remainingMs).toBe(9_900 - 3_500)
    await clock.advance(2_000)
    expect(lock.remainingMs).toBeGreaterThan(8_000)
  })

  it('never revives: an engine that says "not yours" is believed at once', async () => {
    const { locks, connect, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    await locks.forceRelease('a')
    const other = await connect().acquire('a')
    await clock.advance(4_000)
    expect(lock.isHeld).toBe(false)
    await clock.advance(60_000)
    expect(other.isHeld).toBe(true)
    expect(engine.sentOf('acquire').filter(({ owner }) => owner === lock.owner)).toHaveLength(1)
  })

  it('carries the token, so that it cannot renew the hold of another owner', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    await clock.advance(4_000)
    expect(engine.sentOf('renew')).toMatchObject([{ token: lock.token, owner: lock.owner }])
  })

  it('stops before the release is sent', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    engine.fail('release', 'hang')
    void lock.release()
    await clock.advance(60_000)
    expect(engine.sentOf('renew')).toHaveLength(0)
  })

  it('that is in flight during the release is no error and no loss', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    const { signal } = lock
    engine.fail('renew', async (_, pass) => {
      await new Promise<void>((resolve) => void clock.setTimer(1_000, resolve))
      return pass()
    })
    await clock.advance(3_400)
    expect(engine.sentOf('renew')).toHaveLength(1)
    await lock.release()
    await clock.advance(60_000)
    expect(signal.aborted).toBe(false)
    expect(engine.sentOf('renew')).toHaveLength(1)
  })

  it('by hand confirms the lease and can make it longer, never shorter', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s', renew: false })
    await clock.advance(5_000)
    await lock.renew()
    expect(lock.remainingMs).toBe(9_900)
    await lock.renew('1m')
    expect(lock.remainingMs).toBe(59_400)
    await lock.renew('1s')
    expect(lock.remainingMs).toBeGreaterThanOrEqual(59_400)
    await clock.advance(59_000)
    expect(lock.isHeld).toBe(true)
    await clock.advance(1_000)
    expect(lock.isHeld).toBe(false)
  })

  it('whose answer comes late does not take back what a later one gave', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    engine.fail(
      'renew',
      async (_, pass) => {
        const outcome = await pass()
        await new Promise<void>((resolve) => void clock.setTimer(1_000, resolve))
        return outcome
      },
      1,
    )
    await clock.advance(3_500)
    expect(engine.sentOf('renew')).toHaveLength(1)
    await lock.renew('1m')
    const beforeMs = lock.remainingMs
    await clock.advance(1_000)
    expect(lock.remainingMs).toBe(beforeMs - 1_000)
  })

  it('by hand rejects with LOCK_LOST when the engine says that the lock is gone', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a')
    await locks.forceRelease('a')
    expect(await rejectionOf(lock.renew())).toMatchObject({ code: 'LOCK_LOST' })
    expect(lock.signal.aborted).toBe(true)
  })

  it('does not touch the timer for locks that are released before it is due', async () => {
    const { locks, clock } = openVirtualLocks()
    let timersSet = 0
    const setTimer = clock.setTimer.bind(clock)
    clock.setTimer = (delayMs, callback) => {
      timersSet += 1
      return setTimer(delayMs, callback)
    }
    for (let n = 0; n < 1_000; n += 1) await locks.withLock('a', () => undefined)
    expect(timersSet).toBeLessThan(10)
  })
})
