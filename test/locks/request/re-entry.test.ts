import { describe, expect, it } from 'vitest'
import { openVirtualLocks } from '../virtual-locks.ts'

describe('re-entry', () => {
  it('is asked for by naming an owner, and not stumbled into', async () => {
    const { locks } = openVirtualLocks()
    const first = await locks.acquire('a', { owner: 'job-7' })
    const second = await locks.acquire('a', { owner: 'job-7', wait: 0 })
    expect(second).toMatchObject({ owner: 'job-7', token: first.token })
    expect(await locks.tryAcquire('a')).toBeNull()
    await first.release()
    expect(await locks.tryAcquire('a')).toBeNull()
    await second.release()
    expect(await locks.tryAcquire('a')).not.toBeNull()
  })

  it('makes a nested withLock of the same owner possible', async () => {
    const { locks } = openVirtualLocks()
    const options = { owner: 'job-7' }
    const nested = locks.withLock('a', options, () => locks.withLock('a', options, () => 1))
    expect(await nested).toBe(1)
    expect((await locks.inspect('a')).holders).toEqual([])
  })

  it('works across connections', async () => {
    const { locks, connect } = openVirtualLocks()
    const first = await locks.acquire('a', { owner: 'job-7' })
    const second = await connect().tryAcquire('a', { owner: 'job-7' })
    expect(second?.token).toBe(first.token)
    expect((await locks.inspect('a')).holders).toMatchObject([{ owner: 'job-7', writes: 2 }])
  })

  it('a release whose answer is lost gives up one step and not two', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const first = await locks.acquire('a', { owner: 'job-7' })
    await locks.acquire('a', { owner: 'job-7' })
    engine.fail('release', 'lose-answer', 1)
    const releasing = first.release()
    await clock.advance(1_000)
    await releasing
    expect((await locks.inspect('a')).holders).toMatchObject([{ writes: 1 }])
  })

  it('an acquire whose answer is lost takes one step and not two', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    await locks.acquire('a', { owner: 'job-7' })
    engine.fail('acquire', 'lose-answer', 1)
    const acquiring = locks.acquire('a', { owner: 'job-7' })
    await clock.advance(1_000)
    await acquiring
    expect((await locks.inspect('a')).holders).toMatchObject([{ writes: 2 }])
  })
})
