import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { LockEngine } from '../../../src/engine/engine.ts'
import {
  ID_BYTES_MAX,
  META_BYTES_MAX,
  WAITERS_PER_KEY_MAX,
} from '../../../src/engine/validation/limits.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const KEY = 'k'
const TTL_MS = 3_600_000

/** The largest of everything that a reader can say about itself. */
function createReader(index: number) {
  const name = String(index).padEnd(ID_BYTES_MAX, '-')
  const names = { owner: name, party: name, requestId: name, meta: 'm'.repeat(META_BYTES_MAX) }
  return { kind: 'acquire', key: KEY, mode: 'read', ttlMs: TTL_MS, ...names } as const
}

const READERS = Array.from({ length: WAITERS_PER_KEY_MAX }, (_, index) => createReader(index))

describe('as many readers as may wait, with the longest names', () => {
  const clock = new VirtualClock()
  let disk: SimulatedDisk
  let engine: LockEngine

  async function open(compactMinBytes = 1024 ** 3): Promise<void> {
    engine = await openStoredEngine(disk.mount(), { clock, journal: { compactMinBytes } })
  }

  async function reopen(compactMinBytes?: number): Promise<void> {
    await engine.close()
    await open(compactMinBytes)
  }

  async function countHolders(): Promise<number> {
    return (await engine.read({ kind: 'inspect', key: KEY })).holders.length
  }

  beforeEach(async () => {
    disk = new SimulatedDisk({ random: new Random('large') })
    await open()
    await engine.apply({ ...createReader(-1), owner: 'writer', mode: 'write' })
    const waiting = READERS.map(async (reader) => engine.apply({ ...reader, waitMs: TTL_MS }))
    await engine.apply({ kind: 'release', key: KEY, owner: 'writer', mode: 'write' })
    const answers = await Promise.all(waiting)
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['granted']))
  })

  afterEach(() => engine.close())

  it('are moved up at once, and hold after a restart', async () => {
    await reopen()
    expect(await countHolders()).toBe(READERS.length)
  })

  it('are kept by a snapshot', async () => {
    await reopen(1024)
    await engine.apply({ kind: 'acquire', key: 'other', owner: 'o', requestId: '1' })
    await vi.waitFor(() => expect(disk.names().join()).toMatch(/snapshot/))
    await reopen()
    expect(await countHolders()).toBe(READERS.length)
  })

  it('end at once when their leases do, in the life after a restart as well', async () => {
    await reopen()
    await clock.advance(2 * TTL_MS)
    expect(await countHolders()).toBe(0)
    await reopen()
    expect(await countHolders()).toBe(0)
  })
})
