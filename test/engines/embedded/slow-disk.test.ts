import { describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { Acquire, Begin } from '../../../src/law/model/commands.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** A disk on which every operation takes long, so there is time for things to happen meanwhile. */
class SlowDisk {
  readonly clock = new VirtualClock()
  readonly disk = new SimulatedDisk({
    random: new Random('slow disk'),
    defer: (run) => void this.clock.setTimer(10, run),
  })

  async open(): Promise<LockEngine> {
    const { clock } = this
    const journal = {
      defer: (run: () => void) => void clock.setTimer(0, run),
      createSalt: () => 7,
      preallocateBytes: 4_096,
    }
    const settings = { claimWindowMs: 500 }
    return this.after(openStoredEngine(this.disk.mount(), { clock, journal, settings }))
  }

  /** Lets time pass until the promise settles. */
  async after<T>(answer: T | Promise<T>): Promise<T> {
    const promise = Promise.resolve(answer)
    let isSettled = false
    const settle = (): void => {
      isSettled = true
    }
    promise.then(settle, settle)
    await this.clock.settle()
    while (!isSettled) await this.clock.advance(1)
    return promise
  }
}

const acquire = (owner: string, fields: Partial<Acquire> = {}): Acquire => ({
  ...{ kind: 'acquire', key: 'k', owner, requestId: `${owner}-1`, ttlMs: 1_000 },
  ...fields,
})

const begin = (node: string, fields: Partial<Begin> = {}): Begin => ({
  ...{ kind: 'begin', type: 'build', resource: 'r', node, requestId: `${node}-1`, ttlMs: 1_000 },
  ...fields,
})

describe('an engine on a slow disk', () => {
  it('answers a grant that is being written when it is closed', async () => {
    const slow = new SlowDisk()
    const engine = await slow.open()
    await slow.after(engine.apply(acquire('a')))
    const waiting = engine.apply(acquire('b', { waitMs: Infinity }))
    const lost = engine.apply(acquire('c', { waitMs: Infinity }))
    const released = engine.apply({ kind: 'release', key: 'k', owner: 'a' })
    const closed = engine.close()
    await expect(slow.after(lost)).rejects.toMatchObject({ applied: 'no' })
    expect(await slow.after(waiting)).toMatchObject({ kind: 'granted' })
    expect(await slow.after(released)).toMatchObject({ kind: 'released' })
    await slow.after(closed)
    const again = await slow.open()
    const { holders } = await again.read({ kind: 'inspect', key: 'k' })
    expect(holders.map(({ owner }) => owner)).toEqual(['b'])
  })

  it('keeps a grant for the newer call when the older one of the same request is aborted', async () => {
    const slow = new SlowDisk()
    const engine = await slow.open()
    await slow.after(engine.apply(acquire('a')))
    const abort = new AbortController()
    const waiting = acquire('b', { waitMs: Infinity })
    const older = engine.apply(waiting, { signal: abort.signal })
    const newer = engine.apply(waiting)
    const released = engine.apply({ kind: 'release', key: 'k', owner: 'a' })
    // Granted, and not yet on disk.
    abort.abort()
    await expect(slow.after(older)).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
    expect(await slow.after(newer)).toMatchObject({ kind: 'granted', token: 2 })
    await slow.after(released)
    const { holders } = await engine.read({ kind: 'inspect', key: 'k' })
    expect(holders.map(({ owner }) => owner)).toEqual(['b'])
  })

  it('lets a hold expire by itself that was granted because another gave up', async () => {
    const slow = new SlowDisk()
    const engine = await slow.open()
    await slow.after(engine.apply(acquire('a', { mode: 'read', ttlMs: 60_000 })))
    const abort = new AbortController()
    const writer = engine.apply(acquire('b', { waitMs: Infinity }), { signal: abort.signal })
    const reader = engine.apply(acquire('c', { mode: 'read', waitMs: Infinity }))
    abort.abort()
    await expect(slow.after(writer)).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
    await slow.after(reader)
    const expired: string[] = []
    await engine.watch({}, (event) => {
      if (event.kind === 'expired') expired.push(event.owner)
    })
    await slow.clock.advance(1_100)
    expect(expired).toEqual(['c'])
  })

  it('does not ask a node to take its turn that is told of it by a newer call', async () => {
    const slow = new SlowDisk()
    const engine = await slow.open()
    await slow.after(engine.apply(begin('n1')))
    const older = engine.apply(begin('n2', { waitMs: 100 }))
    const newer = engine.apply(begin('n2', { waitMs: 300 }))
    expect(await slow.after(older)).toMatchObject({ kind: 'queued' })
    const { token } = { token: 1 }
    const end = {
      kind: 'finish',
      type: 'build',
      resource: 'r',
      node: 'n1',
      success: false,
    } as const
    await slow.after(engine.apply({ ...end, token }))
    expect(await slow.after(newer)).toMatchObject({ kind: 'granted' })
    await slow.clock.advance(700)
    const { holders } = await engine.read({ kind: 'inspect', key: 'r', namespace: 'operation' })
    expect(holders.map(({ node }) => node)).toEqual(['n2'])
  })

  it('does not tell a call of a grant that came while its hanging up was being stored', async () => {
    const slow = new SlowDisk()
    const engine = await slow.open()
    await slow.after(engine.apply(begin('n1')))
    const waiting = engine.apply(begin('n2', { waitMs: 100 }))
    await slow.clock.advance(97)
    // The disk is busy, and what is stored next waits already: the hanging up and the grant join it.
    const first = engine.apply(acquire('n3'))
    await slow.clock.advance(1)
    const second = engine.apply(acquire('n3', { key: 'l' }))
    await slow.clock.advance(3)
    const finish = { kind: 'finish', type: 'build', resource: 'r', node: 'n1' } as const
    const finished = engine.apply({ ...finish, token: 1, success: false })
    expect(await slow.after(waiting)).toMatchObject({ kind: 'queued' })
    expect(await slow.after(finished)).toMatchObject({ kind: 'finished' })
    await slow.after(Promise.all([first, second]))
    // The grant is there to be taken; a node that was told of it could not rely on it for its ttl.
    expect(await slow.after(engine.apply(begin('n2')))).toMatchObject({ kind: 'granted', token: 2 })
    await slow.clock.advance(700)
    const { holders } = await engine.read({ kind: 'inspect', key: 'r', namespace: 'operation' })
    expect(holders.map(({ node }) => node)).toEqual(['n2'])
  })

  it('gives every lease its full length after a recovery that took longer than the lease', async () => {
    const slow = new SlowDisk()
    const engine = await slow.open()
    for (let n = 0; n < 40; n += 1) {
      await slow.after(engine.apply(acquire('a', { key: `k${n}`, ttlMs: 100 })))
    }
    const last = { kind: 'inspect', key: 'k39' } as const
    slow.disk.kill()
    const startedAtMs = slow.clock.nowMs()
    const again = await slow.open()
    expect(slow.clock.nowMs() - startedAtMs).toBeGreaterThan(60)
    expect((await again.read(last)).holders).toMatchObject([{ owner: 'a', leaseMs: 100 }])
    await slow.clock.advance(99)
    expect((await again.read(last)).holders).toHaveLength(1)
    await slow.clock.advance(1)
    expect((await slow.after(again.read(last))).holders).toHaveLength(0)
  })
})
