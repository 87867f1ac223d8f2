import { describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openStoredEngine } from '../../../../src/engines/embedded/embedded-engine.ts'
import { HistoryBook } from '../../../../src/engines/embedded/history/history-book.ts'
import { HistoryFile } from '../../../../src/engines/embedded/history/history-file.ts'
import { Random } from '../../../../src/testing/random.ts'
import { SimulatedDisk, type SimulatedDiskOptions } from '../../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

const JOURNAL = { preallocateBytes: 1024 }

function createDisk(options: Partial<SimulatedDiskOptions> = {}): SimulatedDisk {
  return new SimulatedDisk({ random: new Random('history'), ...options })
}

function open(disk: SimulatedDisk, clock = new VirtualClock()): Promise<LockEngine> {
  return openStoredEngine(disk.mount(), { clock, journal: JOURNAL, history: true })
}

async function hold(engine: LockEngine, owner: string): Promise<void> {
  await engine.apply({ kind: 'acquire', key: 'k', owner, requestId: owner })
  await engine.apply({ kind: 'release', key: 'k', owner })
}

async function owners(engine: LockEngine): Promise<string[]> {
  const { ends } = await engine.read({ kind: 'history' })
  return ends.map(({ owner }) => owner)
}

/** A disk on which an engine has held and released three locks and was closed. */
async function createUsedDisk(): Promise<SimulatedDisk> {
  const disk = createDisk()
  const engine = await open(disk)
  for (const owner of ['a', 'b', 'c']) await hold(engine, owner)
  await engine.close()
  return disk
}

describe('the file of a history', () => {
  it('is cut where it ends too early, at whatever byte', async () => {
    const { length } = (await createUsedDisk()).contents('history')
    const kept = new Set<number>()
    for (let bytes = 0; bytes < length; bytes += 1) {
      const disk = await createUsedDisk()
      disk.put('history', disk.contents('history').subarray(0, bytes))
      const engine = await open(disk)
      const found = await owners(engine)
      expect(found).toEqual(['a', 'b'].slice(0, found.length).reverse())
      kept.add(found.length)
      await hold(engine, 'd')
      await engine.close()
      const again = await open(disk)
      expect(await owners(again)).toEqual(['d', ...found])
      await again.close()
    }
    expect([...kept]).toEqual([0, 1, 2])
  })

  it('is cut before the first damaged record, wherever a bit flips', async () => {
    const { length } = (await createUsedDisk()).contents('history')
    for (let at = 0; at < length; at += 1) {
      const disk = await createUsedDisk()
      const bytes = disk.contents('history')
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at)
      disk.put('history', bytes)
      const engine = await open(disk)
      const found = await owners(engine)
      expect(found.length).toBeLessThan(3)
      expect(found).toEqual(['a', 'b'].slice(0, found.length).reverse())
      await engine.close()
    }
  })

  it('is not long: what is no longer of interest leaves it', async () => {
    const disk = createDisk()
    const book = new HistoryBook({ perKeyMax: 10 })
    const clock = new VirtualClock()
    const options = { clock, rewriteMinBytes: 1_000 }
    const openFor = (of: HistoryBook) =>
      HistoryFile.open(
        disk.mount(),
        { ...options, visitAll: (visit) => of.visitAll(visit) },
        (entry) => of.add(entry),
      )
    const file = await openFor(book)
    for (let token = 0; token < 2_000; token += 1) {
      const about = {
        namespace: 'lock',
        key: 'k',
        owner: 'o',
        mode: 'read',
        end: 'forced',
      } as const
      const entry = { ...about, token, fromMs: 1, toMs: 2 }
      book.add(entry)
      book.visitNewest(file.append)
      if (token % 7 === 0) {
        await clock.advance(1_000)
        await new Promise(setImmediate)
      }
    }
    await file.close()
    expect(disk.contents('history').length).toBeLessThan(2_000)
    const restored = new HistoryBook({ perKeyMax: 10 })
    await openFor(restored)
    const find = (of: HistoryBook) => of.find({ kind: 'history' }, 10)
    expect(find(book)).toHaveLength(10)
    expect(find(restored)).toEqual(find(book))
    expect(disk.names()).toEqual(['history'])
  })

  it.each(['ENOSPC', 'EIO'] as const)('that the disk refuses (%s) fails nobody', async (code) => {
    const disk = createDisk({
      fault: ({ file }) => (file?.startsWith('history') ? { kind: 'error', code } : undefined),
    })
    const engine = await open(disk)
    await hold(engine, 'a')
    expect(await owners(engine)).toEqual(['a'])
    await engine.close()
    const again = await open(disk)
    expect(await owners(again)).toEqual([])
    await again.close()
  })

  it('that the disk refuses later stays as it was', async () => {
    const trouble = { isOn: false }
    const disk = createDisk({
      fault: ({ file }) =>
        trouble.isOn && file?.startsWith('history') ? { kind: 'error', code: 'EIO' } : undefined,
    })
    const clock = new VirtualClock()
    const engine = await open(disk, clock)
    await hold(engine, 'a')
    await clock.advance(1_000)
    await new Promise(setImmediate)
    trouble.isOn = true
    await hold(engine, 'b')
    expect(await owners(engine)).toEqual(['b', 'a'])
    await engine.close()
    trouble.isOn = false
    const again = await open(disk)
    expect((await owners(again)).at(-1)).toBe('a')
    await again.close()
  })

  it('is not there unless it is asked for', async () => {
    const disk = createDisk()
    const engine = await openStoredEngine(disk.mount(), {
      clock: new VirtualClock(),
      journal: JOURNAL,
    })
    await hold(engine, 'a')
    expect(engine.capabilities.history).toBe(false)
    expect(await owners(engine)).toEqual([])
    await engine.close()
    expect(disk.names().filter((name) => name.startsWith('history'))).toEqual([])
  })
})
