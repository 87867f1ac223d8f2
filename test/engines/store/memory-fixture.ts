import type { KeyStore, StoreFacts } from '../../../src/engines/store/key-store.ts'
import { MemoryKeyStore } from '../../../src/engines/store/memory-key-store.ts'
import type { KeyStoreFixture } from '../../../src/testing/key-store-suite/key-store-fixture.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import type { PlantedBug } from './distort-store.ts'

export interface PlantingPlace {
  readonly clock: VirtualClock
  readonly memory: MemoryKeyStore
}

export interface MemoryFixtureOptions {
  readonly name: string
  readonly facts?: Partial<StoreFacts>
  readonly patienceMs?: number
  /** What stands between the tests and the store; called once for each that is opened. */
  readonly plant?: (place: PlantingPlace) => PlantedBug
}

/** The suite on a store in memory. */
export function createMemoryFixture(options: MemoryFixtureOptions): KeyStoreFixture {
  const { name, facts, patienceMs = 1_000, plant } = options
  const open: KeyStoreFixture['open'] = async () => {
    const clock = new VirtualClock({ nowMs: 1_000_000.5 })
    const memory = new MemoryKeyStore({ clock, facts })
    const planted = plant?.({ clock, memory })
    const stores: KeyStore[] = []
    return {
      connect: async (process) => {
        const connection = memory.connect(process)
        const store = planted?.wrap(connection) ?? connection
        stores.push(store)
        return store
      },
      advance: (ms) => clock.advance(ms),
      mark: async () => {
        const saved = memory.save()
        return async () => memory.restore(saved)
      },
      size: async () => memory.size + (planted?.size?.() ?? 0),
      close: async () => {
        for (const store of stores) await store.close()
      },
    }
  }
  return { name, open, isVirtual: true, patienceMs, seed: process.env['HOLDFAST_SEED'] }
}
