import { describe, expect, it } from 'vitest'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const JOURNAL = { preallocateBytes: 1024 }

function acquire(key: string, owner: string) {
  return { kind: 'acquire', key, owner, requestId: '1', ttlMs: 600_000 } as const
}

describe.each(['ENOSPC', 'EIO'] as const)('when the disk says %s', (code) => {
  async function openFailing() {
    const trouble = { isOn: false }
    const disk = new SimulatedDisk({
      random: new Random(code),
      fault: ({ kind }) =>
        trouble.isOn && (kind === 'write' || kind === 'sync') ? { kind: 'error', code } : undefined,
    })
    const open = () =>
      openStoredEngine(disk.mount(), { clock: new VirtualClock(), journal: JOURNAL })
    return { trouble, disk, open, engine: await open() }
  }

  it('the caller gets a clear error and nothing unsynced is acknowledged', async () => {
    const { trouble, engine } = await openFailing()
    expect(await engine.apply(acquire('kept', 'a'))).toMatchObject({ kind: 'granted' })
    trouble.isOn = true
    await expect(engine.apply(acquire('lost', 'b'))).rejects.toMatchObject({
      code: 'LOCK_STORAGE_FAILED',
      applied: 'maybe',
      message: expect.stringContaining(code),
    })
    await engine.close()
  })

  it('the engine does not pretend afterwards, even when the disk works again', async () => {
    const { trouble, engine } = await openFailing()
    await engine.apply(acquire('kept', 'a'))
    const waiting = Promise.resolve(
      engine.apply({ ...acquire('kept', 'b'), waitMs: 60_000 }),
    ).catch((error: unknown) => error)
    trouble.isOn = true
    await expect(engine.apply(acquire('lost', 'c'))).rejects.toThrow(code)
    trouble.isOn = false
    expect(await waiting).toMatchObject({ code: 'LOCK_STORAGE_FAILED' })
    const refusal = { code: 'LOCK_STORAGE_FAILED', applied: 'no' }
    await expect(engine.apply(acquire('more', 'd'))).rejects.toMatchObject(refusal)
    await expect(engine.read({ kind: 'stats' })).rejects.toMatchObject(refusal)
    await engine.close()
  })

  it('opening again shows everything that was acknowledged', async () => {
    const { trouble, disk, engine, open } = await openFailing()
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
