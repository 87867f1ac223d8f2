import { describe, expect, it } from 'vitest'
import { openVirtualLocks, rejectionOf } from './virtual-locks.ts'

describe('close', () => {
  it('calls off the waits of these locks and of no others', async () => {
    const { locks, connect, clock } = openVirtualLocks()
    const holder = await connect().acquire('a')
    const mine = rejectionOf(locks.acquire('a'))
    const begun = rejectionOf(locks.once('x', () => locks.once('x', () => 1)))
    const theirs = connect().acquire('a')
    await clock.settle()
    await locks.close()
    expect(await mine).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    expect(await begun).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    await holder.release()
    expect((await theirs).isHeld).toBe(true)
  })

  it('makes what is held count as lost, and leaves it to its lease', async () => {
    const { locks, connect, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    const { signal } = lock
    await locks.close()
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', details: { reason: 'closed' } })
    await lock.release()
    const other = connect()
    expect(await other.tryAcquire('a')).toBeNull()
    await clock.advance(10_000)
    expect(await other.tryAcquire('a')).not.toBeNull()
  })

  it('leaves an engine alone that it did not open, and no timer behind', async () => {
    const { locks, connect, clock, engine } = openVirtualLocks()
    await locks.acquire('a', { ttl: 100 })
    await locks.close()
    await clock.advance(200_000)
    expect(clock.pendingTimers).toBe(0)
    expect(await connect().tryAcquire('a')).not.toBeNull()
    expect(engine.sentOf('renew')).toHaveLength(0)
  })

  it('can be called again; everything else is refused afterwards', async () => {
    const { locks } = openVirtualLocks()
    const closing = locks.close()
    expect(locks.close()).toBe(closing)
    await closing
    await locks[Symbol.asyncDispose]()
    for (const call of [
      () => locks.acquire('a'),
      () => locks.tryAcquire('a'),
      () => locks.withLock('a', () => 1),
      () => locks.acquireAll(['a']),
      () => locks.once('a', () => 1),
      () => locks.begin('pull', 'a'),
      () => locks.list(),
      () => locks.inspect('a'),
      () => locks.references('a'),
      () => locks.unref(),
      () => locks.forceRelease('a'),
      async () => locks.watch(),
    ]) {
      expect(await rejectionOf(call())).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    }
  })

  it('a grant that arrives after the close is given back', async () => {
    const { locks, clock, engine, connect } = openVirtualLocks()
    engine.fail(
      'acquire',
      async (_, pass) => {
        const outcome = await pass()
        await new Promise<void>((resolve) => void clock.setTimer(100, resolve))
        return outcome
      },
      1,
    )
    const acquiring = rejectionOf(locks.acquire('a'))
    await clock.settle()
    await locks.close()
    await clock.advance(100)
    expect(await acquiring).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    expect(await connect().tryAcquire('a')).not.toBeNull()
  })
})
