import { describe, expect, it, vi } from 'vitest'
import { backOffMs } from '../../../src/time/back-off.ts'
import { ConflictError, createError, type LockError } from '../../../src/engine/errors/errors.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

function reasonOf(signal: AbortSignal): unknown {
  return (signal.reason as LockError).details['reason']
}

describe('a lock that is lost', () => {
  it('aborts its signal with a typed error that says what was lost and why', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s', renew: false })
    const onAbort = vi.fn()
    lock.signal.addEventListener('abort', onAbort)
    await clock.advance(10_000)
    expect(onAbort).toHaveBeenCalledOnce()
    expect(lock.isHeld).toBe(false)
    expect(lock.signal.reason).toBeInstanceOf(ConflictError)
    expect(lock.signal.reason).toMatchObject({
      code: 'LOCK_LOST',
      message: 'the write lock on "a" was lost: its lease ran out and it was not being renewed',
      details: { key: 'a', token: lock.token, reason: 'expired' },
    })
  })

  it('is lost by silence alone, before the engine could give it to anyone else', async () => {
    const { locks, connect, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    // Its own lease is long, so that it needs no confirmation after the wait.
    const next = connect().acquire('a', { ttl: '1h' })
    let grantedAtMs = 0
    void next.then(() => {
      grantedAtMs = clock.nowMs()
    })
    let abortedAtMs = 0
    lock.signal.addEventListener('abort', () => {
      abortedAtMs = clock.nowMs()
    })
    engine.fail('renew', 'hang')
    await clock.advance(20_000)
    expect(abortedAtMs).toBe(9_900)
    expect(grantedAtMs).toBe(10_000)
    expect(reasonOf(lock.signal)).toBe('unconfirmed')
  })

  it('its deadline counts from when the winning request was sent, not from when the answer came', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', async (_, pass) => {
      const outcome = await pass()
      await new Promise<void>((resolve) => void clock.setTimer(900, resolve))
      return outcome
    })
    const acquiring = locks.acquire('a', { ttl: '10s', renew: false })
    await clock.advance(900)
    const lock = await acquiring
    expect(lock.remainingMs).toBe(10_000 - 100 - 900)
  })

  it('an answer that took a good part of the lease is confirmed before it is handed out', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const first = await locks.acquire('a', { ttl: '10s' })
    const waiting = locks.acquire('a', { ttl: '10s' })
    await clock.advance(60_000)
    await first.release()
    const lock = await waiting
    expect(lock.remainingMs).toBe(9_900)
    const [, asked, confirmed] = engine.sentOf('acquire')
    expect(asked?.owner).toBe(lock.owner)
    expect(confirmed).toEqual({ ...asked, waitMs: 0 })
  })

  it('a grant that ended before it arrived is asked for anew', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail(
      'acquire',
      async (_, pass) => {
        const outcome = await pass()
        await new Promise<void>((resolve) => void clock.setTimer(15_000, resolve))
        return outcome
      },
      1,
    )
    const acquiring = locks.acquire('a', { ttl: '10s' })
    await clock.advance(15_000 + backOffMs(1, 1))
    const lock = await acquiring
    expect(lock.isHeld).toBe(true)
    const { holders } = await locks.inspect('a')
    expect(holders).toMatchObject([{ owner: lock.owner, token: lock.token, writes: 1 }])
  })

  it('after a retry, the deadline counts from the attempt that won', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail(
      'acquire',
      async (_, pass) => {
        await pass()
        await new Promise<void>((resolve) => void clock.setTimer(5_000, resolve))
        throw createError('LOCK_ENGINE_UNAVAILABLE', 'no answer', { applied: 'maybe' })
      },
      1,
    )
    const acquiring = locks.acquire('a', { ttl: '10s', renew: false })
    await clock.advance(6_000)
    const lock = await acquiring
    const wonAtMs = clock.nowMs() - (9_900 - lock.remainingMs)
    expect(wonAtMs).toBeGreaterThanOrEqual(5_000)
    expect(wonAtMs).toBeLessThanOrEqual(5_020)
  })

  it('is seen as lost at the next look if the event loop was blocked past its deadline', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    const { signal } = lock
    let nowMs = clock.nowMs()
    vi.spyOn(clock, 'nowMs').mockImplementation(() => nowMs)
    nowMs += 11_000
    expect(lock.isHeld).toBe(false)
    expect(lock.remainingMs).toBe(0)
    expect(signal.aborted).toBe(true)
    expect(reasonOf(signal)).toBe('unconfirmed')
  })

  it('a signal that is first asked for after the loss is aborted already', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s', renew: false })
    await clock.advance(10_000)
    expect(lock.signal.aborted).toBe(true)
    expect(reasonOf(lock.signal)).toBe('expired')
  })

  it('learns at its next renewal that it was forced', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '30s' })
    const { signal } = lock
    expect(await locks.forceRelease('a')).toBe(1)
    await clock.advance(10_000)
    expect(signal.aborted).toBe(true)
    expect(reasonOf(signal)).toBe('forced')
  })

  it('stays lost: nothing that the handle does brings it back', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s', mode: 'read' })
    engine.fail('renew', 'refuse-connection')
    await clock.advance(10_000)
    engine.heal()
    engine.sent.length = 0
    await clock.advance(60_000)
    expect(lock.isHeld).toBe(false)
    expect(engine.sent).toEqual([])
    for (const attempt of [() => lock.renew(), () => lock.upgrade(), () => lock.downgrade()]) {
      expect(await rejectionOf(attempt())).toMatchObject({ code: 'LOCK_LOST' })
    }
  })

  it('is not lost because it was released', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { ttl: '10s' })
    const { signal } = lock
    await lock.release()
    await clock.advance(60_000)
    expect(signal.aborted).toBe(false)
    expect(lock.isHeld).toBe(false)
    expect(lock.remainingMs).toBe(0)
    expect(await rejectionOf(lock.renew())).toMatchObject({ code: 'LOCK_NOT_HOLDER' })
  })

  it('the margin is at least 5 ms, for leases that are short', async () => {
    const { locks } = openVirtualLocks()
    expect((await locks.acquire('a', { ttl: 100 })).remainingMs).toBe(95)
    expect((await locks.acquire('b', { ttl: '1h' })).remainingMs).toBe(3_600_000 * 0.99)
  })
})
