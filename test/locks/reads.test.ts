import { describe, expect, it } from 'vitest'
import type { WatchEvent } from '../../src/engine/engine.ts'
import { openVirtualLocks, rejectionOf } from './virtual-locks.ts'

describe('list and inspect', () => {
  it('show who holds and who waits, locks and operations', async () => {
    const { locks, connect, clock } = openVirtualLocks()
    const lock = await locks.acquire('orders/1')
    const waiting = connect({ owner: 'bob' }).acquire('orders/1', { mode: 'read' })
    await locks.begin('pull', 'layer', { node: 'n1' })
    await clock.advance(1_000)
    const page = await locks.list()
    expect(page.locks.map(({ namespace, key }) => [namespace, key])).toEqual([
      ['operation', 'layer'],
      ['lock', 'orders/1'],
    ])
    expect(await locks.inspect('orders/1')).toMatchObject({
      holders: [{ owner: lock.owner, mode: 'write', heldMs: 1_000 }],
      queue: [{ mode: 'read', position: 1, waitedMs: 1_000 }],
      queueLength: 1,
    })
    expect(await locks.inspect('layer', { kind: 'operation' })).toMatchObject({
      holders: [{ type: 'pull', node: 'n1' }],
    })
    await lock.release()
    await waiting
  })

  it('list takes a prefix, an owner, a kind and a cursor', async () => {
    const { locks } = openVirtualLocks()
    const first = await locks.acquire('orders/1')
    await locks.acquire('orders/2')
    await locks.acquire('users/1')
    await locks.begin('pull', 'orders/1', { node: 'n1' })
    const keysOf = async (options: Parameters<typeof locks.list>[0]): Promise<string[]> =>
      (await locks.list(options)).locks.map(({ key }) => key)
    expect(await keysOf({ prefix: 'orders/', kind: 'lock' })).toEqual(['orders/1', 'orders/2'])
    expect(await keysOf({ owner: first.owner })).toEqual(['orders/1'])
    expect(await keysOf({ kind: 'operation' })).toEqual(['orders/1'])
    const page = await locks.list({ kind: 'lock', limit: 2 })
    expect(page.cursor).not.toBeNull()
    expect(await keysOf({ kind: 'lock', cursor: page.cursor ?? '' })).toEqual(['users/1'])
  })

  it('forceRelease ends one hold or all of them, and says how many', async () => {
    const { locks } = openVirtualLocks()
    const one = await locks.acquire('a', { mode: 'read' })
    await locks.acquire('a', { mode: 'read' })
    await locks.acquire('a', { mode: 'read' })
    expect(await locks.forceRelease('a', { owner: one.owner })).toBe(1)
    expect(await locks.forceRelease('a')).toBe(2)
    expect(await locks.forceRelease('a')).toBe(0)
  })
})

describe('watch', () => {
  it('tells what happens on matching keys, in order, until the loop is left', async () => {
    const { locks } = openVirtualLocks()
    const watch = locks.watch({ prefix: 'orders/' })
    await watch.ready
    await locks.withLock('users/1', () => undefined)
    await locks.withLock('orders/1', () => undefined)
    const kinds: string[] = []
    for await (const event of watch) {
      kinds.push(event.kind)
      if (event.kind === 'released') break
    }
    expect(kinds).toEqual(['granted', 'released'])
    for await (const event of watch) expect.unreachable(event.kind)
  })

  it('a reader that is too far behind is told reset and nothing that came before', async () => {
    const { locks } = openVirtualLocks()
    const watch = locks.watch()
    await watch.ready
    for (let n = 0; n < 600; n += 1) await locks.withLock('a', () => undefined)
    await watch.close()
    const events: WatchEvent[] = []
    for await (const event of watch) events.push(event)
    expect(events[0]?.kind).toBe('reset')
    expect(events.length).toBeLessThan(1_000)
    expect(events.filter(({ kind }) => kind === 'reset')).toHaveLength(1)
  })

  it('a reader that waits gets an event when it comes, and the end when the watch is closed', async () => {
    const { locks } = openVirtualLocks()
    const iterator = locks.watch()[Symbol.asyncIterator]()
    const first = iterator.next()
    const second = iterator.next()
    const third = iterator.next()
    await locks.withLock('a', () => undefined)
    expect((await first).value?.kind).toBe('granted')
    expect((await second).value?.kind).toBe('released')
    await locks.close()
    expect(await third).toEqual({ done: true, value: undefined })
  })

  it('ends with its signal, also one that was aborted before', async () => {
    const { locks } = openVirtualLocks()
    const controller = new AbortController()
    const watch = locks.watch({ signal: controller.signal })
    await watch.ready
    await locks.acquire('a')
    controller.abort()
    await locks.acquire('b')
    const keys: string[] = []
    for await (const event of watch) if (event.kind !== 'reset') keys.push(event.key)
    expect(keys).toEqual(['a'])
    for await (const event of locks.watch({ signal: AbortSignal.abort() })) {
      expect.unreachable(event.kind)
    }
  })

  it('that the engine refuses rejects to its reader, and without one is no unhandled rejection', async () => {
    const { locks, engine } = openVirtualLocks()
    await engine.close()
    const watch = locks.watch()
    expect(await rejectionOf(watch.ready)).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    const reading = watch[Symbol.asyncIterator]().next()
    expect(await rejectionOf(reading)).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    locks.watch()
    await new Promise((resolve) => setImmediate(resolve))
  })
})
