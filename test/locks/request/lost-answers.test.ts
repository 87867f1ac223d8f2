import { describe, expect, it } from 'vitest'
import { createError } from '../../../src/engine/errors/errors.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('an acquire whose answer is lost', () => {
  it.each(['lose-answer', 'lose-request'] as const)(
    'is sent again under the same request id and takes effect once (%s)',
    async (fault) => {
      const { locks, clock, engine } = openVirtualLocks()
      engine.fail('acquire', fault, 3)
      const acquiring = locks.acquire('a')
      await clock.advance(5_000)
      const lock = await acquiring
      const sent = engine.sentOf('acquire')
      expect(sent).toHaveLength(4)
      expect(new Set(sent.map(({ requestId }) => requestId)).size).toBe(1)
      expect((await locks.inspect('a')).holders).toMatchObject([{ writes: 1, token: lock.token }])
    },
  )

  it('is asked for within its wait, no longer', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    await locks.acquire('a')
    engine.fail('acquire', 'lose-request')
    const acquiring = rejectionOf(locks.acquire('a', { wait: '10s' }))
    await clock.advance(9_000)
    const { length } = engine.sentOf('acquire')
    expect(length).toBeGreaterThan(8)
    expect(engine.sentOf('acquire').at(-1)?.waitMs).toBeLessThan(3_000)
    await clock.advance(1_000)
    expect(await acquiring).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
  })

  it('waits no longer than its caller wanted to when it is sent again', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    await locks.acquire('a')
    engine.fail('acquire', 'lose-request', 1)
    const acquiring = rejectionOf(locks.acquire('a', { wait: '300ms' }))
    await clock.advance(400)
    expect(await acquiring).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT' })
    expect(engine.sentOf('acquire').map(({ waitMs }) => waitMs)).toEqual([Infinity, 300, 300])
  })

  it('times out when the answer is lost after the wait, and the first copy arrives late', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    await locks.acquire('a')
    // The first copy is on its way for longer than the wait; the second meets it in the queue.
    engine.fail(
      'acquire',
      (_command, pass) => {
        clock.setTimer(400, () => void pass())
        return new Promise((_resolve, reject) => {
          const lost = createError('LOCK_ENGINE_UNAVAILABLE', 'no answer came', {
            applied: 'maybe',
          })
          clock.setTimer(399, () => reject(lost))
        })
      },
      1,
    )
    const acquiring = rejectionOf(locks.acquire('a', { wait: '300ms' }))
    await clock.advance(1_000)
    expect(await acquiring).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT' })
    expect((await locks.inspect('a')).queueLength).toBe(0)
  })

  it('keeps the process alive until it is found out; renewing and cleaning up do not', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    let kept = 0
    const setTimer = clock.setTimer.bind(clock)
    clock.setTimer = (delayMs, callback) => {
      const timer = setTimer(delayMs, callback)
      return { ...timer, ref: () => void (kept += 1) }
    }
    engine.fail('acquire', 'lose-request', 1)
    const acquiring = locks.acquire('a', { ttl: '10s' })
    await clock.advance(20)
    const lock = await acquiring
    expect(kept).toBe(1)
    await clock.advance(20_000)
    engine.fail('acquire', 'lose-request')
    engine.fail('cancel', 'lose-request')
    const controller = new AbortController()
    const aborting = rejectionOf(locks.acquire('b', { signal: controller.signal }))
    await clock.settle()
    expect(kept).toBe(2)
    controller.abort()
    await aborting
    await clock.advance(10_000)
    expect(engine.sentOf('cancel').length).toBeGreaterThan(2)
    expect(kept).toBe(2)
    expect(lock.isHeld).toBe(true)
  })

  it('is asked for also by a call that does not wait', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', 'lose-answer', 1)
    const trying = locks.tryAcquire('a')
    await clock.advance(100)
    expect((await trying)?.isHeld).toBe(true)
  })

  it('that is given up is called off: a grant without an answer is given back', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', 'lose-answer', 5)
    const controller = new AbortController()
    const acquiring = rejectionOf(locks.acquire('a', { signal: controller.signal }))
    await clock.advance(5)
    expect((await locks.inspect('a')).holders).toHaveLength(1)
    engine.heal()
    controller.abort()
    expect(await acquiring).toMatchObject({ code: 'LOCK_ABORTED', applied: 'maybe' })
    await clock.settle()
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('that is given up is called off: one that arrives late never holds', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', 'lose-request', 1)
    const controller = new AbortController()
    const acquiring = rejectionOf(locks.acquire('a', { signal: controller.signal }))
    await clock.advance(5)
    controller.abort()
    await acquiring
    await clock.settle()
    const [late] = engine.sentOf('acquire')
    if (late === undefined) throw new Error('nothing was sent')
    expect(await engine.apply(late)).toMatchObject({ kind: 'refused', code: 'cancelled' })
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('that the engine calls off itself needs no second word', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    await locks.acquire('a')
    engine.fail('acquire', 'lose-request', 1)
    const controller = new AbortController()
    const acquiring = rejectionOf(locks.acquire('a', { signal: controller.signal }))
    await clock.advance(100)
    expect((await locks.inspect('a')).queueLength).toBe(1)
    controller.abort()
    expect(await acquiring).toMatchObject({ code: 'LOCK_ABORTED', applied: 'no' })
    expect(engine.sentOf('cancel')).toHaveLength(0)
    expect((await locks.inspect('a')).queueLength).toBe(0)
  })

  it('is not asked for again where that is of no use', async () => {
    const { locks, engine } = openVirtualLocks()
    engine.fail('acquire', createError('LOCK_ENGINE_CLOSED', 'closed'))
    expect(await rejectionOf(locks.acquire('a'))).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    engine.fail('acquire', 'refuse-connection')
    expect(await rejectionOf(locks.acquire('a'))).toMatchObject({ applied: 'no' })
    expect(engine.sentOf('acquire')).toHaveLength(2)
  })
})
