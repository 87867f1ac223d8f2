import { describe, expect, it } from 'vitest'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('upgrade', () => {
  it('makes a sole reader the writer, with a new token', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    const before = lock.token
    await lock.upgrade()
    expect(lock.mode).toBe('write')
    expect(lock.token).toBeGreaterThan(before)
    await lock.upgrade()
    await lock.release()
    expect(await locks.inspect('a')).toMatchObject({ holders: [] })
  })

  it('waits for the other readers and passes everyone in the queue', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    const other = await locks.acquire('a', { mode: 'read' })
    const order: string[] = []
    const writing = locks.withLock('a', () => void order.push('writer'))
    const upgrading = lock.upgrade().then(() => order.push('upgrader'))
    await other.release()
    await upgrading
    await lock.release()
    await writing
    expect(order).toEqual(['upgrader', 'writer'])
  })

  it('is refused at once if another reader already waits to upgrade, and the read lock stays', async () => {
    const { locks } = openVirtualLocks()
    const one = await locks.acquire('a', { mode: 'read' })
    const two = await locks.acquire('a', { mode: 'read' })
    const first = one.upgrade()
    expect(await rejectionOf(two.upgrade())).toMatchObject({ code: 'LOCK_UPGRADE_CONFLICT' })
    expect(two).toMatchObject({ isHeld: true, mode: 'read' })
    await two.release()
    await first
  })

  it('that times out or is aborted keeps the read lock', async () => {
    const { locks, clock } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    await locks.acquire('a', { mode: 'read' })
    const timing = rejectionOf(lock.upgrade({ wait: '1s' }))
    await clock.advance(1_000)
    expect(await timing).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT', details: { waitedMs: 1_000 } })
    const controller = new AbortController()
    const aborting = rejectionOf(lock.upgrade({ signal: controller.signal }))
    controller.abort()
    expect(await aborting).toMatchObject({ code: 'LOCK_ABORTED' })
    expect(await rejectionOf(lock.upgrade({ wait: 0 }))).toMatchObject({ code: 'LOCK_HELD' })
    expect(lock).toMatchObject({ isHeld: true, mode: 'read' })
    expect((await locks.inspect('a')).queueLength).toBe(0)
  })

  it('is renewed while it waits and after it, whatever the token was when the renewal was sent', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read', ttl: '10s' })
    const other = await locks.acquire('a', { mode: 'read', ttl: '10s' })
    const upgrading = lock.upgrade()
    await clock.advance(60_000)
    engine.fail('renew', async (_, pass) => {
      await new Promise<void>((resolve) => void clock.setTimer(500, resolve))
      return pass()
    })
    await clock.advance(3_400)
    await other.release()
    await clock.advance(60_000)
    await upgrading
    expect(lock).toMatchObject({ isHeld: true, mode: 'write' })
  })

  it('a renewal that was sent under the old token and fails for it is not a loss', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read', ttl: '10s' })
    engine.fail(
      'renew',
      async (_, pass) => {
        await new Promise<void>((resolve) => void clock.setTimer(500, resolve))
        return pass()
      },
      1,
    )
    await clock.advance(3_400)
    await lock.upgrade()
    await clock.advance(60_000)
    expect(lock.isHeld).toBe(true)
  })

  it('is ended by a release, which gives up everything', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    const other = await locks.acquire('a', { mode: 'read' })
    const upgrading = rejectionOf(lock.upgrade())
    await lock.release()
    expect(await upgrading).toMatchObject({ code: 'LOCK_ABORTED' })
    await other.release()
    expect(await locks.inspect('a')).toMatchObject({ holders: [], queueLength: 0 })
  })

  it('that is refused as not the holder only after the release aborts nothing', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    const { signal } = lock
    engine.fail('acquire', async () => {
      await new Promise<void>((resolve) => void clock.setTimer(100, resolve))
      return { kind: 'refused', code: 'not_holder' }
    })
    const upgrading = rejectionOf(lock.upgrade())
    const releasing = lock.release()
    await clock.advance(100)
    await Promise.all([upgrading, releasing])
    expect(signal.aborted).toBe(false)
  })

  it('rejects with LOCK_LOST if the read lock ends while it waits', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    await locks.acquire('a', { mode: 'read' })
    const upgrading = rejectionOf(lock.upgrade())
    await locks.forceRelease('a', { owner: lock.owner })
    expect(await upgrading).toMatchObject({ code: 'LOCK_LOST' })
    expect(lock.isHeld).toBe(false)
  })

  it('one change at a time', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    const other = await locks.acquire('a', { mode: 'read' })
    const upgrading = lock.upgrade()
    expect(await rejectionOf(lock.downgrade())).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
    await other.release()
    await upgrading
  })
})

describe('downgrade', () => {
  it('lets readers in and writers wait, keeps the token, and leaves no gap for a writer', async () => {
    const { locks } = openVirtualLocks()
    const lock = await locks.acquire('a')
    const { token } = lock
    const order: string[] = []
    const reading = locks.withLock('a', { mode: 'read' }, () => void order.push('reader'))
    const writing = locks.withLock('a', () => void order.push('writer'))
    await lock.downgrade()
    await reading
    expect(lock).toMatchObject({ mode: 'read', token, isHeld: true })
    expect(order).toEqual(['reader'])
    await lock.release()
    await writing
  })

  it('and upgrade can be repeated, and one release ends it all', async () => {
    const { locks } = openVirtualLocks()
    for (const mode of ['read', 'write'] as const) {
      const lock = await locks.acquire('a', { mode })
      const tokens = [lock.token]
      for (let round = 0; round < 3; round += 1) {
        await lock.downgrade()
        await lock.upgrade()
        tokens.push(lock.token)
      }
      expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b))
      const [holder] = (await locks.inspect('a')).holders
      expect(holder).toMatchObject({ reads: 1, writes: 1, token: lock.token })
      await lock.release()
      expect(await locks.inspect('a')).toMatchObject({ holders: [] })
    }
  })

  it('that was left without an answer is finished before the next change', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    engine.fail('release', 'lose-answer')
    const downgrading = rejectionOf(lock.downgrade())
    await clock.advance(5_000)
    expect(await downgrading).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
    expect(lock).toMatchObject({ mode: 'read', isHeld: true })
    engine.heal()
    await lock.upgrade()
    expect(lock).toMatchObject({ mode: 'write', isHeld: true })
    await lock.release()
    expect((await locks.inspect('a')).holders).toEqual([])
  })

  it('of a read lock changes nothing', async () => {
    const { locks, engine } = openVirtualLocks()
    const lock = await locks.acquire('a', { mode: 'read' })
    await lock.downgrade()
    expect(engine.sent).toHaveLength(1)
  })

  it('whose answer is lost happens once', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const lock = await locks.acquire('a')
    engine.fail('release', 'lose-answer', 1)
    const downgrading = lock.downgrade()
    await clock.advance(1_000)
    await downgrading
    expect((await locks.inspect('a')).holders).toMatchObject([{ reads: 1, writes: 0 }])
  })
})
