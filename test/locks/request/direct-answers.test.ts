import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { createLocks } from '../../../src/locks/create-locks.ts'
import type { Locks } from '../../../src/locks/locks.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import type { Clock } from '../../../src/time/clock.ts'
import { rejectionOf } from '../virtual-locks.ts'

interface DirectLocks {
  readonly locks: Locks
  /** The process is busy: time passes, and nothing else has a turn. */
  readonly keepBusy: (ms: number) => void
  readonly advance: (ms: number) => Promise<void>
}

/** Locks on an engine in the same process, with nothing in between: it answers without promises. */
function openDirectLocks({ followTasks = false } = {}): DirectLocks {
  const virtual = new VirtualClock()
  let busyMs = 0
  const clock: Clock = {
    nowMs: () => virtual.nowMs() + busyMs,
    wallMs: () => virtual.wallMs(),
    setTimer: (delayMs, callback) => virtual.setTimer(delayMs, callback),
  }
  const engine = openMemoryEngine({ clock })
  onTestFinished(() => engine.close())
  const keepBusy = (ms: number): void => {
    busyMs += ms
  }
  return {
    locks: createLocks(engine, { clock, followTasks }),
    keepBusy,
    advance: (ms) => virtual.advance(ms),
  }
}

describe('with an engine that answers without promises', () => {
  it('the function never runs before the call has returned', async () => {
    const { locks } = openDirectLocks()
    const order: string[] = []
    const running = locks.withLock('a', () => order.push('runs'))
    order.push('returned')
    await running
    expect(order).toEqual(['returned', 'runs'])
  })

  it('the lock is held while the function runs and free when the call resolves', async () => {
    const { locks } = openDirectLocks()
    const inside = await locks.withLock('a', async (lock) => {
      expect(lock.isHeld).toBe(true)
      return locks.inspect('a')
    })
    expect(inside.holders).toHaveLength(1)
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('a function that throws is answered with its own error, and the lock is free', async () => {
    const { locks } = openDirectLocks()
    const mine = new Error('my own')
    const running = locks.withLock('a', () => Promise.reject(mine))
    expect(await rejectionOf(running)).toBe(mine)
    expect(await locks.tryAcquire('a')).not.toBeNull()
  })

  it('those who wait get the lock in the order of asking', async () => {
    const { locks } = openDirectLocks()
    const order: number[] = []
    await Promise.all([1, 2, 3].map((n) => locks.withLock('a', async () => order.push(n))))
    expect(order).toEqual([1, 2, 3])
  })

  it('a task that would wait for itself is told so', async () => {
    const { locks } = openDirectLocks({ followTasks: true })
    const nested = locks.withLock('a', async () => {
      await Promise.resolve()
      return locks.withLock('a', () => 1)
    })
    expect(await rejectionOf(nested)).toMatchObject({ code: 'LOCK_DEADLOCK' })
  })

  it('a lock that was lost under the function is told, with what the function returned', async () => {
    const { locks } = openDirectLocks()
    const running = locks.withLock('a', async () => {
      await locks.forceRelease('a')
      return 7
    })
    expect(await rejectionOf(running)).toMatchObject({ code: 'LOCK_LOST', details: { result: 7 } })
  })

  it('locks that are closed before the function runs do not run it', async () => {
    const { locks } = openDirectLocks()
    let ran = false
    const running = locks.withLock('a', () => {
      ran = true
    })
    const refused = rejectionOf(running)
    await locks.close()
    expect(await refused).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    expect(ran).toBe(false)
  })

  it('a function does not run under a grant that grew old before its turn came', async () => {
    const { locks, keepBusy, advance } = openDirectLocks()
    const running = locks.withLock('a', { ttl: '1s' }, (lock) => [lock.isHeld, lock.token])
    keepBusy(2_000)
    await advance(1_000)
    expect(await running).toEqual([true, 2])
  })

  it('a bad key is refused with an error of the call', async () => {
    const { locks } = openDirectLocks()
    const expected = { code: 'LOCK_INVALID_ARGUMENT' }
    expect(await rejectionOf(locks.withLock('', () => 1))).toMatchObject(expected)
    expect(await rejectionOf(locks.acquire(''))).toMatchObject(expected)
  })

  it('releasing twice is releasing once, whichever way the first went', async () => {
    const { locks } = openDirectLocks()
    const handle = await locks.withLock('a', (lock) => lock)
    await handle.release()
    expect(handle.isHeld).toBe(false)
    const lock = await locks.acquire('a')
    await Promise.all([lock.release(), lock.release()])
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })
})
