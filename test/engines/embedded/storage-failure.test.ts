import { describe, expect, it } from 'vitest'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const JOURNAL = { preallocateBytes: 1024 }

function acquire(key: string, owner: string) {
  return { kind: 'acquire', key, owner, requestId: '1', ttlMs: 600_000 } as const
}

async function openFailing(code: 'ENOSPC' | 'EIO') {
  const trouble = { isOn: false }
  const disk = new SimulatedDisk({
    random: new Random(code),
    fault: ({ kind }) =>
      trouble.isOn && (kind === 'write' || kind === 'sync') ? { kind: 'error', code } : undefined,
  })
  const open = () => openStoredEngine(disk.mount(), { clock: new VirtualClock(), journal: JOURNAL })
  return { trouble, disk, open, engine: await open() }
}

describe.each(['ENOSPC', 'EIO'] as const)('when the disk says %s', (code) => {
  it('the caller gets a clear error and nothing unsynced is acknowledged', async () => {
    const { trouble, engine } = await openFailing(code)
    expect(await engine.apply(acquire('kept', 'a'))).toMatchObject({ kind: 'granted' })
    trouble.isOn = true
    await expect(engine.apply(acquire('lost', 'b'))).rejects.toMatchObject({
      code: 'LOCK_STORAGE_FAILED',
      applied: 'maybe',
      message: expect.stringContaining(code),
    })
    await engine.close()
  })

  it('opening again shows everything that was acknowledged', async () => {
    const { trouble, disk, engine, open } = await openFailing(code)
    const granted = await engine.apply(acquire('kept', 'a'))
    trouble.isOn = true
    await expect(engine.apply(acquire('lost', 'b'))).rejects.toThrow(code)
    await engine.close()
    trouble.isOn = false
    disk.crash()
    const again = await open()
    const { holders } = await again.read({ kind: 'inspect', key: 'kept' })
    expect(holders).toMatchObject([{ owner: 'a', token: 'token' in granted && granted.token }])
    expect(await again.apply(acquire('more', 'd'))).toMatchObject({ kind: 'granted' })
    await again.close()
  })
})

describe('after a failure other than a full disk', () => {
  it('the engine does not pretend, even when the disk works again', async () => {
    const { trouble, engine } = await openFailing('EIO')
    await engine.apply(acquire('kept', 'a'))
    const waiting = Promise.resolve(
      engine.apply({ ...acquire('kept', 'b'), waitMs: 60_000 }),
    ).catch((error: unknown) => error)
    trouble.isOn = true
    await expect(engine.apply(acquire('lost', 'c'))).rejects.toThrow('EIO')
    trouble.isOn = false
    expect(await waiting).toMatchObject({ code: 'LOCK_STORAGE_FAILED' })
    const message = expect.stringMatching(/not known: restart/)
    const refusal = { code: 'LOCK_STORAGE_FAILED', applied: 'no', message }
    await expect(engine.apply(acquire('more', 'd'))).rejects.toMatchObject(refusal)
    await expect(engine.read({ kind: 'stats' })).rejects.toMatchObject(refusal)
    await engine.close()
  })
})

describe('while the disk is full', () => {
  const STATS = { kind: 'stats' } as const

  async function openFull() {
    const trouble: { isOn: boolean; code: 'ENOSPC' | 'EIO' } = { isOn: false, code: 'ENOSPC' }
    const clock = new VirtualClock()
    const disk = new SimulatedDisk({
      random: new Random('full'),
      fault: ({ kind }) =>
        trouble.isOn && kind === 'write' ? { kind: 'error', code: trouble.code } : undefined,
    })
    const open = () => openStoredEngine(disk.mount(), { clock, journal: JOURNAL })
    const engine = await open()
    const kept = await engine.apply(acquire('kept', 'a'))
    const heard: string[] = []
    const waiting = Promise.resolve(
      engine.apply({ ...acquire('kept', 'b'), waitMs: 3_600_000 }),
    ).catch((error: unknown) => error)
    await engine.watch({}, (event) =>
      heard.push(`${event.kind} ${'key' in event ? event.key : ''}`),
    )
    trouble.isOn = true
    await expect(engine.apply(acquire('late', 'c'))).rejects.toMatchObject({ applied: 'maybe' })
    expect(heard).toEqual([])
    return { trouble, clock, disk, open, engine, kept, waiting, heard }
  }

  it('the engine reads on, and refuses changes and waits with what to do', async () => {
    const { engine, waiting } = await openFull()
    const { holders } = await engine.read({ kind: 'inspect', key: 'kept' })
    expect(holders).toMatchObject([{ owner: 'a' }])
    // What the loss of power would take back is not shown.
    expect((await engine.read({ kind: 'inspect', key: 'late' })).holders).toEqual([])
    const refusal = {
      code: 'LOCK_STORAGE_FAILED',
      applied: 'no',
      message: expect.stringMatching(/disk is full.*no restart is needed/),
    }
    expect(await waiting).toMatchObject(refusal)
    await expect(engine.apply(acquire('more', 'd'))).rejects.toMatchObject(refusal)
    expect((await engine.read(STATS)).journal?.full).toContain('disk is full')
    await engine.close()
  })

  it('goes on by itself when there is room, with what it had and nothing else', async () => {
    const { trouble, clock, disk, open, engine, kept, heard } = await openFull()
    await clock.advance(10_000)
    await expect(engine.apply(acquire('more', 'd'))).rejects.toThrow('disk is full')
    trouble.isOn = false
    await clock.advance(1_000)
    expect(await engine.apply(acquire('more', 'd'))).toMatchObject({ kind: 'granted' })
    expect(heard).toEqual(['granted late', 'cancelled kept', 'granted more'])
    expect((await engine.read(STATS)).journal?.full).toBeUndefined()
    // The waiter was told so, and does not wait any more.
    const { holders, queue } = await engine.read({ kind: 'inspect', key: 'kept' })
    expect({ holders, queue }).toMatchObject({ holders: [{ owner: 'a' }], queue: [] })
    disk.crash()
    const again = await open()
    expect(await again.apply(acquire('kept', 'a'))).toMatchObject({
      token: 'token' in kept && kept.token,
    })
    expect((await again.read({ kind: 'inspect', key: 'late' })).holders).toMatchObject([
      { owner: 'c' },
    ])
    await again.close()
  })

  it('no lease ends, because no holder could renew it', async () => {
    const { trouble, clock, engine } = await openFull()
    await clock.advance(700_000)
    trouble.isOn = false
    await clock.advance(1_000)
    const renew = { kind: 'renew', key: 'kept', owner: 'a', ttlMs: 600_000 } as const
    expect(await engine.apply(renew)).toMatchObject({ kind: 'renewed' })
    await clock.advance(700_000)
    expect((await engine.read({ kind: 'inspect', key: 'kept' })).holders).toEqual([])
    await engine.close()
  })

  it('a stop loses nothing that was acknowledged', async () => {
    const { trouble, disk, open, engine } = await openFull()
    await engine.close()
    trouble.isOn = false
    disk.crash()
    const again = await open()
    expect((await again.read({ kind: 'inspect', key: 'kept' })).holders).toMatchObject([
      { owner: 'a' },
    ])
    await again.close()
  })

  it('a stop in the middle of a retry, or one that finds the disk full, leaves nothing running', async () => {
    const { trouble, clock, disk, open, engine } = await openFull()
    trouble.isOn = false
    const passing = clock.advance(1_000)
    await engine.close()
    await passing
    const second = await open()
    trouble.isOn = true
    await second.apply({ kind: 'sweep' })
    await second.close()
    const operations = disk.operations
    await clock.advance(60_000)
    expect(disk.operations).toBe(operations)
    trouble.isOn = false
    const third = await open()
    expect((await third.read({ kind: 'inspect', key: 'late' })).holders).toHaveLength(1)
    await third.close()
  })

  it('another failure of the disk stops the engine, and says that a restart is needed', async () => {
    const { trouble, clock, engine } = await openFull()
    trouble.code = 'EIO'
    await clock.advance(1_000)
    trouble.isOn = false
    await clock.advance(10_000)
    const refusal = { code: 'LOCK_STORAGE_FAILED', message: expect.stringMatching(/restart/) }
    await expect(engine.apply(acquire('more', 'd'))).rejects.toMatchObject(refusal)
    await expect(engine.read(STATS)).rejects.toMatchObject(refusal)
    await engine.close()
  })
})
