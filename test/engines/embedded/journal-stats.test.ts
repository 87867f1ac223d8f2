import { describe, expect, it } from 'vitest'
import {
  openMemoryEngine,
  openStoredEngine,
} from '../../../src/engines/embedded/embedded-engine.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const JOURNAL = { preallocateBytes: 1024, compactMinBytes: 2_000 }

describe('what an engine says about its journal', () => {
  it('counts the batches and their bytes', async () => {
    const disk = new SimulatedDisk({ random: new Random('stats') })
    const engine = await openStoredEngine(disk.mount(), {
      clock: new VirtualClock(),
      journal: JOURNAL,
    })
    const read = async () => (await engine.read({ kind: 'stats' })).journal
    expect(await read()).toEqual({ syncs: 0, bytes: 0, compactionFailures: 0 })
    await engine.apply({ kind: 'acquire', key: 'a', owner: 'o', requestId: '1' })
    const first = await read()
    expect(first?.syncs).toBe(1)
    expect(first?.bytes).toBeGreaterThan(20)
    await engine.apply({ kind: 'release', key: 'a', owner: 'o' })
    expect((await read())?.syncs).toBe(2)
    expect((await read())?.bytes).toBeGreaterThan(first?.bytes ?? Infinity)
    await engine.close()
  })

  it('says that it cannot be made shorter, and why', async () => {
    const disk = new SimulatedDisk({
      random: new Random('stats'),
      fault: ({ kind, file }) =>
        kind === 'write' && file?.startsWith('snapshot')
          ? { kind: 'error', code: 'ENOSPC' }
          : undefined,
    })
    const engine = await openStoredEngine(disk.mount(), {
      clock: new VirtualClock(),
      journal: JOURNAL,
    })
    for (let index = 0; index < 100; index += 1) {
      await engine.apply({ kind: 'acquire', key: `k${index}`, owner: 'o', requestId: '1' })
    }
    const { journal } = await engine.read({ kind: 'stats' })
    expect(journal?.compactionFailures).toBeGreaterThan(0)
    expect(journal?.lastCompactionError).toBe('ENOSPC')
    await engine.close()
  })

  it('is nothing where there is none', async () => {
    const engine = openMemoryEngine({ clock: new VirtualClock() })
    expect(await engine.read({ kind: 'stats' })).not.toHaveProperty('journal')
    await engine.close()
  })
})
