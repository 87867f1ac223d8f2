import { describe, expect, it } from 'vitest'

import type { Disk, DiskFile } from '../../../../src/engines/embedded/journal/disk.ts'
import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { Random } from '../../../../src/testing/random.ts'
import {
  type DiskFault,
  type DiskOperation,
  SimulatedDisk,
} from '../../../../src/testing/simulated-disk.ts'
import { Ledger } from './ledger.ts'
import { ListOwner } from './list-owner.ts'
import { PairOwner } from './pair-owner.ts'

/** With microtasks on both sides, appends and compaction take turns at every step. */
const OPTIONS = { preallocateBytes: 256, compactMinBytes: 400, defer: queueMicrotask }

/** Thousands of recoveries take seconds, and more on a busy machine. */
const SLOW = { timeout: 120_000 }

function createDisk(fault?: (operation: DiskOperation) => DiskFault | undefined): SimulatedDisk {
  return new SimulatedDisk({ random: new Random('compaction'), ...(fault && { fault }) })
}

/** An owner of one cell: however many records there were, its snapshot is small. */
function createCell(): { value: string } & Parameters<typeof Journal.open>[1] {
  const cell = {
    value: '',
    restore: (chunk: Uint8Array) => cell.replay(chunk),
    replay: (record: Uint8Array) => {
      cell.value = Buffer.from(record).toString()
    },
    snapshot: () => [Buffer.from(cell.value)],
    highest: 0,
    raise: () => {},
  }
  return cell
}

/** The same disk, except that writes to logs wait in `held` while `isHeld` says so. */
function holdLogWrites(disk: Disk, isHeld: () => boolean, held: (() => void)[]): Disk {
  const holdWrites = (file: DiskFile): DiskFile => ({
    size: () => file.size(),
    read: (into, position) => file.read(into, position),
    write: async (bytes, position) => {
      if (isHeld()) await new Promise<void>((resolve) => held.push(resolve))
      await file.write(bytes, position)
    },
    sync: () => file.sync(),
    truncate: (size) => file.truncate(size),
    close: () => file.close(),
  })
  return {
    list: () => disk.list(),
    create: async (name, mode) => {
      const file = await disk.create(name, mode)
      return name.startsWith('log-') ? holdWrites(file) : file
    },
    open: (name, mode) => disk.open(name, mode),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    syncDirectory: () => disk.syncDirectory(),
  }
}

describe('compaction', SLOW, () => {
  it('keeps files and start-up small after 100,000 records', async () => {
    const disk = createDisk()
    const options = { preallocateBytes: 16 * 1024, compactMinBytes: 128 * 1024 }
    const cell = createCell()
    const journal = await Journal.open(disk.mount(), cell, options)
    let largest = 0
    for (let i = 0; i < 100_000; i++) {
      cell.value = `record ${i} of a state that does not grow`
      const settled = journal.append(Buffer.from(cell.value))
      if (i % 500 !== 499) continue
      await settled
      const sizes = disk.names().map((name) => disk.contents(name).length)
      largest = Math.max(
        largest,
        sizes.reduce((sum, size) => sum + size, 0),
      )
    }
    await journal.close()
    expect(largest).toBeLessThan(3 * 128 * 1024)

    const recovered = createCell()
    const { recovery } = await Journal.open(disk.mount(), recovered, options)
    expect(recovered.value).toBe(cell.value)
    expect(recovery.records).toBeLessThan(5000)
    expect(disk.names().length).toBeLessThanOrEqual(3)
  })

  it('lets the log grow to twice the snapshot, so that a large state is not written too often', async () => {
    let snapshots = 0
    const disk = createDisk(({ kind, file }) => {
      if (kind === 'create' && file?.startsWith('snapshot-') === true) snapshots++
      return undefined
    })
    const owner = { ...createCell(), snapshot: () => [new Uint8Array(10_000)] }
    const journal = await Journal.open(disk.mount(), owner, OPTIONS)
    for (let i = 0; i < 300; i++) await journal.append(new Uint8Array(64))
    await journal.close()
    expect(snapshots).toBe(2)
  })

  it('makes the snapshot durable, then its name, and only then removes what it replaces', async () => {
    const steps: string[] = []
    const disk = createDisk(({ kind, file }) => {
      if (kind === 'sync-directory' || file?.startsWith('log') === false) steps.push(kind)
      if (kind === 'remove' && file === 'log-0000000001') steps.push('remove log')
      return undefined
    })
    const journal = await new Ledger().open(disk.mount(), new ListOwner(), OPTIONS)
    steps.length = 0
    await journal.work(30)
    await journal.journal.close()
    expect(steps.join(' ')).toMatch(
      /^sync-directory remove create (write )+sync rename sync-directory remove log/,
    )
  })

  it('does not stop appends while a snapshot is written', async () => {
    let isWriting = false
    const disk = createDisk(({ kind, file }) => {
      if (file?.startsWith('snapshot-') === true) isWriting = kind !== 'rename'
      return undefined
    })
    const journal = await new Ledger().open(disk.mount(), new PairOwner(), OPTIONS)
    let acknowledgedMeanwhile = 0
    for (let i = 0; i < 60; i++) {
      await journal.append()
      if (isWriting) acknowledgedMeanwhile++
    }
    expect(acknowledgedMeanwhile).toBeGreaterThan(2)
  })

  it('does not publish a snapshot that shows what is not yet durable in the log', async () => {
    let isPublished = false
    let isHeld = false
    const held: (() => void)[] = []
    // Once the snapshot is begun, the log is not written until `held` is let go.
    const disk = new SimulatedDisk({
      random: new Random('held'),
      fault: ({ kind, file }) => {
        if (file?.startsWith('snapshot-') !== true) return undefined
        isHeld ||= kind === 'create'
        isPublished ||= kind === 'rename'
        return undefined
      },
    })
    const journal = await new Ledger().open(
      holdLogWrites(disk.mount(), () => isHeld, held),
      new PairOwner(),
      OPTIONS,
    )
    while (!isHeld) await journal.append()
    const shown = journal.append()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    expect({ isPublished, held: held.length }).toEqual({ isPublished: false, held: 1 })
    isHeld = false
    for (const letGo of held) letGo()
    await shown
    await journal.append()
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    expect(isPublished).toBe(true)
  })

  it('is tried again later when it fails, and loses nothing', async () => {
    let failures = 0
    const disk = createDisk(({ kind, file }) => {
      const isHit = kind === 'write' && file?.startsWith('snapshot-') === true && failures < 2
      if (!isHit) return undefined
      failures++
      return { kind: 'error', code: 'ENOSPC' }
    })
    const ledger = new Ledger()
    const journal = await ledger.open(disk.mount(), new ListOwner(), OPTIONS)
    await journal.work(100)
    expect(journal.journal.stats).toMatchObject({
      compactionFailures: 2,
      lastCompactionError: 'ENOSPC',
    })
    expect(disk.names().filter((name) => name.startsWith('snapshot-'))).toHaveLength(1)
    expect(disk.names().some((name) => name.endsWith('.tmp'))).toBe(false)
    disk.crash()
    await ledger.open(disk.mount(), new ListOwner(), OPTIONS)
  })

  it('reports an owner that cannot give its state, and goes on without a snapshot', async () => {
    const disk = createDisk()
    const ledger = new Ledger()
    const owner = Object.assign(new ListOwner(), {
      snapshot: () => {
        throw new Error('no state today')
      },
    })
    const journal = await ledger.open(disk.mount(), owner, OPTIONS)
    await journal.work(40)
    expect(journal.journal.stats.lastCompactionError).toBe('no state today')
    disk.crash()
    await ledger.open(disk.mount(), new ListOwner(), OPTIONS)
  })

  it('is given up when the journal is closed, without a trace', async () => {
    const ledger = new Ledger()
    const disk = createDisk()
    for (let round = 0; round < 20; round++) {
      const journal = await ledger.open(disk.mount(), new ListOwner(), OPTIONS)
      await journal.work(round)
      await journal.journal.close()
      expect(disk.names().filter((name) => name.endsWith('.tmp'))).toEqual([])
    }
  })
})

describe('damage', SLOW, () => {
  async function createCompacted(): Promise<SimulatedDisk> {
    const disk = createDisk()
    const journal = await new Ledger().open(disk.mount(), new ListOwner(), OPTIONS)
    await journal.work(30)
    await journal.journal.close()
    expect(disk.names()).toHaveLength(3)
    return disk
  }

  const reopen = (disk: SimulatedDisk): Promise<Journal> =>
    Journal.open(disk.mount(), new ListOwner(), OPTIONS)

  it('of any bit of a snapshot is refused', async () => {
    const disk = await createCompacted()
    const name = disk.names().find((found) => found.startsWith('snapshot-')) as string
    const whole = disk.contents(name)
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      disk.put(name, flipped)
      await expect(reopen(disk)).rejects.toMatchObject({
        code: 'LOCK_STORAGE_DAMAGED',
        details: { file: name },
      })
    }
  })

  it('of a snapshot that is cut anywhere, or goes on too long, is refused', async () => {
    const disk = await createCompacted()
    const name = disk.names().find((found) => found.startsWith('snapshot-')) as string
    const whole = disk.contents(name)
    for (let cut = 0; cut < whole.length; cut++) {
      disk.put(name, whole.subarray(0, cut))
      await expect(reopen(disk)).rejects.toMatchObject({ details: { file: name } })
    }
    disk.put(name, Buffer.concat([whole, Buffer.alloc(1)]))
    await expect(reopen(disk)).rejects.toMatchObject({
      details: { file: name, offset: whole.length },
    })
  })

  it('by the loss of the log that follows a snapshot is refused', async () => {
    const disk = await createCompacted()
    const log = disk.names().find((found) => found.startsWith('log-')) as string
    await disk.mount().remove(log)
    await expect(reopen(disk)).rejects.toMatchObject({ details: { file: log, offset: 0 } })
    await expect(reopen(disk)).rejects.toThrow(/missing/)
  })

  it('by files that were exchanged is refused', async () => {
    const disk = await createCompacted()
    const [log, , snapshot] = disk.names() as [string, string, string]
    disk.put(log, disk.contents(snapshot))
    await expect(reopen(disk)).rejects.toMatchObject({ details: { file: log, offset: 0 } })
  })
})
