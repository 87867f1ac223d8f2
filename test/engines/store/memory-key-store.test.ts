import { describe, expect, it } from 'vitest'
import { MemoryKeyStore } from '../../../src/engines/store/memory-key-store.ts'
import { runKeyStoreSuites } from '../../../src/testing/key-store-suite/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { createMemoryFixture } from './memory-fixture.ts'

const RICH = createMemoryFixture({ name: 'a store in memory' })

const POOR = createMemoryFixture({
  name: 'a store in memory that can do as little as any store',
  facts: { pushes: false, checksOthers: false, keepsHistory: false, partChangesMax: 24 },
})

for (const fixture of [RICH, POOR]) runKeyStoreSuites(fixture, { describe, it })

it('the clock of a store in memory can be set, and never goes back', async () => {
  const clock = new VirtualClock({ nowMs: 500.9 })
  const memory = new MemoryKeyStore({ clock })
  const store = memory.connect('p')
  const nowMs = async (): Promise<number> => (await store.load([])).nowMs
  expect(await nowMs()).toBe(500)
  memory.stepClock(1_000)
  expect(await nowMs()).toBe(1_500)
  memory.stepClock(-1_200)
  await clock.advance(1_000)
  expect(await nowMs()).toBe(1_500)
  await clock.advance(400)
  expect(await nowMs()).toBe(1_700)
})

it('a store in memory says what a wrong change is wrong about', async () => {
  const store = new MemoryKeyStore({ clock: new VirtualClock() }).connect('p')
  const name = { space: 'lock', name: 'k' } as const
  const write = { kind: 'write', name, expected: '', head: 'h' } as const
  const part = { group: 'wait', id: '0', body: '' }
  await expect(store.commit([], { atMs: 0 })).rejects.toThrow('a commit changes something')
  const twice = [write, write]
  await expect(store.commit(twice, { atMs: 0 })).rejects.toThrow('a key is changed once')
  const both = [{ ...write, puts: [part], removes: [part] }]
  await expect(store.commit(both, { atMs: 0 })).rejects.toThrow('a part is changed once')
  expect((await store.load([{ name }])).keys[0]?.version).toBe('')
})
