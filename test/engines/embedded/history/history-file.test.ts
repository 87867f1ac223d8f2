import { describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openStoredEngine } from '../../../../src/engines/embedded/embedded-engine.ts'
import { HistoryFile } from '../../../../src/engines/embedded/history/history-file.ts'
import { HISTORY_WRITE_AFTER_MS } from '../../../../src/engines/embedded/history/history-limits.ts'
import { RecentEnds } from '../../../../src/engines/embedded/history/recent-ends.ts'
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

/** Lets the history be written as far as it has come. */
async function letWrite(clock: VirtualClock): Promise<void> {
  await clock.advance(HISTORY_WRITE_AFTER_MS)
  await new Promise(setImmediate)
}

/** A disk on which an engine has held and released three locks, one line for each, and was closed. */
async function createUsedDisk(): Promise<SimulatedDisk> {
  const disk = createDisk()
  const clock = new VirtualClock()
  const engine = await open(disk, clock)
  for (const owner of ['a', 'b', 'c']) {
    await hold(engine, owner)
    await letWrite(clock)
  }
  await engine.close()
  return disk
}

describe('the file of a history', () => {
  it('is read as far as it goes when it ends too early, at whatever byte', async () => {
    const { length } = (await createUsedDisk()).contents('history')
    const kept = new Set<number>()
    for (let bytes = 0; bytes < length; bytes += 1) {
      const disk = await createUsedDisk()
      disk.put('history', disk.contents('history').subarray(0, bytes))
      const engine = await open(disk)
      const found = await owners(engine)
      expect(found).toEqual(['a', 'b', 'c'].slice(0, found.length).reverse())
      kept.add(found.length)
      await hold(engine, 'd')
      await engine.close()
      const again = await open(disk)
      expect(await owners(again)).toEqual(['d', ...found])
      await again.close()
    }
    expect([...kept]).toEqual([0, 1, 2])
  })

  it('loses the lines that are damaged and no other, wherever a bit flips', async () => {
    const whole = (await createUsedDisk()).contents('history')
    for (let at = 0; at < whole.length; at += 1) {
      const disk = await createUsedDisk()
      const bytes = Buffer.from(whole)
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at)
      disk.put('history', bytes)
      const engine = await open(disk)
      const line = whole.subarray(0, at).toString().split('\n').length - 1
      const isAtEnd = whole.readUInt8(at) === 0x0a
      const damaged = isAtEnd ? [line, line + 1] : [line]
      const sound = ['a', 'b', 'c'].filter((_, index) => !damaged.includes(index))
      expect(await owners(engine)).toEqual(sound.reverse())
      await engine.close()
    }
  })

  it('is not long: what is no longer kept leaves it', async () => {
    const disk = createDisk()
    const ends = new RecentEnds({ perKeyMax: 10 })
    const clock = new VirtualClock()
    const file = await HistoryFile.open(disk.mount(), ends, clock)
    const about = { namespace: 'lock', key: 'k', owner: 'o', mode: 'read', end: 'forced' } as const
    let largest = 0
    for (let token = 0; token < 45_000; token += 1) {
      file.add(ends.add({ ...about, token, fromMs: 1, toMs: 2 }))
      if (token % 3_000 !== 2_999) continue
      await letWrite(clock)
      largest = Math.max(largest, disk.contents('history').length)
    }
    await file.close()
    expect(largest).toBeGreaterThan(500_000)
    expect(largest).toBeLessThan(1_500_000)
    const restored = new RecentEnds({ perKeyMax: 10 })
    await HistoryFile.open(disk.mount(), restored, clock)
    expect(ends.find({}, 10)).toHaveLength(10)
    expect(restored.find({}, 10)).toEqual(ends.find({}, 10))
    expect(disk.names()).toEqual(['history'])
  })

  it('is written anew when more ends came than are worth waiting for it', async () => {
    const disk = createDisk()
    const ends = new RecentEnds()
    const clock = new VirtualClock()
    const file = await HistoryFile.open(disk.mount(), ends, clock)
    const about = { namespace: 'lock', owner: 'o', mode: 'read', end: 'forced' } as const
    for (let token = 0; token < 25_000; token += 1) {
      file.add(ends.add({ ...about, key: `k${token}`, token, fromMs: 1, toMs: 2 }))
    }
    await letWrite(clock)
    await file.close()
    const restored = new RecentEnds()
    await HistoryFile.open(disk.mount(), restored, clock)
    expect(restored.size).toBe(25_000)
    expect(restored.find({ limit: 25_000 }, 10)).toEqual(ends.find({ limit: 25_000 }, 10))
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
    await letWrite(clock)
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
