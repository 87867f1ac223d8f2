import { describe, expect, it } from 'vitest'
import type { Command } from '../../../src/law/model/commands.ts'
import type { Outcome, Refused } from '../../../src/law/model/outcomes.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

const MISSED: readonly Refused[] = [
  { kind: 'refused', code: 'abandoned' },
  { kind: 'refused', code: 'disconnected' },
  { kind: 'refused', code: 'ended', end: 'unclaimed' },
  { kind: 'refused', code: 'ended', end: 'disconnected' },
  { kind: 'refused', code: 'ended', end: 'expired' },
]

function answerWith(
  refused: Refused,
): (_: Command, pass: () => Promise<Outcome>) => Promise<Outcome> {
  return async () => refused
}

describe('a caller that was out of reach and still wants the lock', () => {
  it.each(MISSED)('asks anew under another request id after $code $end', async (refused) => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', answerWith(refused), 3)
    const acquiring = locks.acquire('a', { wait: '10s' })
    await clock.advance(1_000)
    const lock = await acquiring
    expect(lock.isHeld).toBe(true)
    const sent = engine.sentOf('acquire')
    expect(new Set(sent.map(({ requestId }) => requestId)).size).toBe(4)
    expect(sent.at(-1)?.waitMs).toBeLessThan(10_000)
  })

  it('loses its place, and is told from one that gave up by the engine itself', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const held = await locks.acquire('a')
    const acquiring = locks.acquire('a', { wait: '10s' })
    await clock.settle()
    const { owner, requestId } = engine.sentOf('acquire')[1] ?? { owner: '', requestId: '' }
    const behind = locks.acquire('a', { wait: '10s' })
    await clock.settle()
    await engine.apply({ kind: 'cancel', key: 'a', owner, requestId, reason: 'abandoned' })
    await clock.advance(100)
    expect((await locks.inspect('a')).queue.at(-1)).toMatchObject({ owner })
    await held.release()
    await (await behind).release()
    expect((await acquiring).owner).toBe(owner)
  })

  it('asks less and less often, and not beyond its wait', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', answerWith({ kind: 'refused', code: 'abandoned' }))
    const acquiring = rejectionOf(locks.acquire('a', { wait: '10s' }))
    await clock.advance(10_000)
    expect(await acquiring).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE' })
    expect(engine.sentOf('acquire').length).toBeLessThan(25)
    expect(engine.sentOf('acquire').length).toBeGreaterThan(8)
  })

  it('stops when its signal says so, and nothing is left behind', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('acquire', answerWith({ kind: 'refused', code: 'abandoned' }))
    const controller = new AbortController()
    const acquiring = rejectionOf(locks.acquire('a', { signal: controller.signal }))
    await clock.advance(500)
    controller.abort()
    expect(await acquiring).toMatchObject({ code: 'LOCK_ABORTED', applied: 'no' })
    engine.heal()
    await clock.advance(5_000)
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('does not ask anew if it did not want to wait, nor after it was cancelled', async () => {
    const { locks, engine } = openVirtualLocks()
    engine.fail('acquire', answerWith({ kind: 'refused', code: 'abandoned' }), 1)
    await rejectionOf(locks.tryAcquire('a'))
    engine.fail('acquire', answerWith({ kind: 'refused', code: 'cancelled' }), 1)
    await rejectionOf(locks.acquire('a', { wait: '10s' }))
    engine.fail('acquire', answerWith({ kind: 'refused', code: 'ended', end: 'cancelled' }), 1)
    expect(await rejectionOf(locks.acquire('a', { wait: '10s' }))).toMatchObject({
      code: 'LOCK_REQUEST_ENDED',
    })
    expect(engine.sentOf('acquire')).toHaveLength(3)
  })

  it('begins an operation anew under another request id', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('begin', answerWith({ kind: 'refused', code: 'abandoned' }), 2)
    const beginning = locks.begin('pull', 'layer', { node: 'n', wait: '10s' })
    await clock.advance(1_000)
    expect((await beginning).kind).toBe('acquired')
    expect(new Set(engine.sentOf('begin').map(({ requestId }) => requestId)).size).toBe(3)
  })
})
