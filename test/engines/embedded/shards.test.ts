import { expect, it } from 'vitest'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const HELD = { kind: 'acquire', key: 'held', owner: 'o', ttlMs: 86_400_000 } as const
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']

it('tokens grow and holds stay, whatever the number of shards in each life', async () => {
  const disk = new SimulatedDisk({ random: new Random('shards') })
  const journal = { compactMinBytes: 256 }
  const clock = new VirtualClock()
  const last = new Map<string, number>()
  for (const shards of [1, 32, 7, 1, 4096, 32]) {
    const engine = await openStoredEngine(disk.mount(), { clock, shards, journal })
    expect((await engine.read({ kind: 'inspect', key: 'held' })).holders).toHaveLength(
      last.size === 0 ? 0 : 1,
    )
    await engine.apply({ ...HELD, requestId: String(shards) })
    for (const key of KEYS) {
      const granted = await engine.apply({ kind: 'acquire', key, owner: 'o', requestId: '1' })
      const token = granted.kind === 'granted' ? granted.token : 0
      expect(token).toBeGreaterThan(last.get(key) ?? 0)
      last.set(key, token)
      await engine.apply({ kind: 'release', key, owner: 'o', token })
      await clock.advance(61_000)
    }
    await engine.close()
  }
})
