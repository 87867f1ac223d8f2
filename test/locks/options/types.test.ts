import { describe, expectTypeOf, it } from 'vitest'
import {
  type AcquireOptions,
  type BeginNowOutcome,
  type BeginOutcome,
  type Clock,
  connect,
  createLocks,
  type Duration,
  isLockError,
  type LockEngine,
  type LockError,
  type LockHandle,
  type Locks,
  type LockSet,
  type LockWatch,
  type OnceOutcome,
  type OperationHandle,
  type WatchEvent,
} from '../../../src/index.ts'

describe('the types that a program sees', () => {
  it('connect and createLocks give locks', () => {
    expectTypeOf(connect).returns.resolves.toEqualTypeOf<Locks>()
    expectTypeOf(createLocks).returns.toEqualTypeOf<Locks>()
    expectTypeOf(createLocks).parameter(0).toEqualTypeOf<LockEngine>()
    expectTypeOf<Locks>().toExtend<AsyncDisposable>()
    expectTypeOf<Clock['nowMs']>().returns.toBeNumber()
  })

  it('withLock infers the result, with and without options, async or not', () => {
    const use = (locks: Locks) => ({
      plain: locks.withLock('a', () => 1),
      async: locks.withLock('a', { ttl: '10s' }, async (lock) => lock.token),
      nothing: locks.withLock('a', undefined, async () => {}),
    })
    expectTypeOf(use).returns.toEqualTypeOf<{
      plain: Promise<number>
      async: Promise<number>
      nothing: Promise<void>
    }>()
  })

  it('tryAcquire may be null, acquire may not, and neither takes what makes no sense', () => {
    expectTypeOf<Locks['tryAcquire']>().returns.resolves.toEqualTypeOf<LockHandle | null>()
    expectTypeOf<Locks['acquire']>().returns.resolves.toEqualTypeOf<LockHandle>()
    expectTypeOf<Locks['acquireAll']>().returns.resolves.toEqualTypeOf<LockSet>()
    expectTypeOf<Parameters<Locks['tryAcquire']>[1]>().not.toHaveProperty('wait')
    expectTypeOf<AcquireOptions['mode']>().toEqualTypeOf<'read' | 'write' | undefined>()
    expectTypeOf<LockHandle>().toExtend<AsyncDisposable>()
  })

  it('a duration is a number or a number with a unit', () => {
    expectTypeOf<'10s'>().toExtend<Duration>()
    expectTypeOf<'1.5h'>().toExtend<Duration>()
    expectTypeOf<250>().toExtend<Duration>()
    expectTypeOf<'10 seconds'>().not.toExtend<Duration>()
    expectTypeOf<'soon'>().not.toExtend<Duration>()
  })

  it('once carries the type of the value', () => {
    const use = (locks: Locks) => locks.once('a', async () => ({ rows: 3 }))
    expectTypeOf(use).returns.resolves.toEqualTypeOf<OnceOutcome<{ rows: number }>>()
  })

  it('begin can be queued only if it does not wait', () => {
    const use = (locks: Locks) => ({
      waiting: locks.begin('pull', 'x', { wait: '10s' }),
      now: locks.begin('pull', 'x', { wait: 0 }),
    })
    expectTypeOf(use).returns.toEqualTypeOf<{
      waiting: Promise<BeginOutcome>
      now: Promise<BeginNowOutcome>
    }>()
    expectTypeOf<BeginOutcome['kind']>().toEqualTypeOf<'acquired' | 'skipped' | 'dissolved'>()
    expectTypeOf<OperationHandle>().toExtend<AsyncDisposable>()
  })

  it('a watch is iterated over, and isLockError narrows', () => {
    expectTypeOf<LockWatch>().toExtend<AsyncIterable<WatchEvent>>()
    expectTypeOf(isLockError).guards.toEqualTypeOf<LockError>()
  })
})
