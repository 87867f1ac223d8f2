import { isLockError } from '../../../../src/engine/errors/errors.ts'
import { beforeAll, describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { RunningChecksum } from '../../../../src/engines/embedded/journal/running-checksum.ts'
import { Random } from '../../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../../src/testing/simulated-disk.ts'
import { ListOwner } from './list-owner.ts'

const LOG = 'log-0000000001'
const HEADER_BYTES = 40
const OPTIONS = { preallocateBytes: 0 }
/** Thousands of recoveries take seconds, and more on a busy machine. */
const SLOW = { timeout: 120_000 }

/** A log and its mark as their writer left them, and where each of the batches ends. */
interface Sample {
  readonly log: Buffer
  readonly mark: Buffer
  readonly batches: readonly { readonly end: number; readonly records: readonly string[] }[]
}

/** About 4 KB: batches of one to five records, some empty, some of several hundred bytes. */
async function createSample(ending: 'kill' | 'close'): Promise<Sample> {
  const random = new Random('sample')
  const disk = new SimulatedDisk({ random })
  const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
  const batches = []
  for (let i = 0; i < 20; i++) {
    const texts = Array.from({ length: random.int(1, 5) }, (_, j) => `${i}.${j} `)
    const records = texts.map((text) => text.repeat(random.pick([0, 1, 5, 40])))
    await Promise.all(records.map((record) => journal.append(Buffer.from(record))))
    batches.push({ end: disk.contents(LOG).length, records })
  }
  if (ending === 'close') await journal.close()
  else disk.kill()
  return { log: disk.contents(LOG), mark: disk.contents('mark'), batches }
}

function recordsUpTo(sample: Sample, end: number): string[] {
  return sample.batches.filter((batch) => batch.end <= end).flatMap((batch) => batch.records)
}

function diskWith(log: Uint8Array, { mark }: Sample): SimulatedDisk {
  const disk = new SimulatedDisk({ random: new Random('reopened') })
  disk.put(LOG, log)
  disk.put('mark', mark)
  return disk
}

async function recoverFrom(disk: SimulatedDisk): Promise<{ journal: Journal; list: string[] }> {
  const owner = new ListOwner()
  const journal = await Journal.open(disk.mount(), owner, OPTIONS)
  return { journal, list: owner.list }
}

/** Opens it, appends, loses the power, and opens it again: a repair must hold. */
async function expectUsable(disk: SimulatedDisk, expected: readonly string[]): Promise<void> {
  const { journal, list } = await recoverFrom(disk)
  expect(list).toEqual(expected)
  await journal.append(Buffer.from('after'))
  disk.crash()
  const again = await recoverFrom(disk)
  expect(again.list).toEqual([...expected, 'after'])
  expect(again.journal.recovery.cut).toBeNull()
}

describe('a log that ends too early', SLOW, () => {
  let sample: Sample
  beforeAll(async () => {
    sample = await createSample('kill')
  })

  it('is the sample of about 4 KB that these tests are meant for', () => {
    expect(sample.log.length).toBeGreaterThan(3000)
    expect(sample.log.length).toBeLessThan(6000)
  })

  it('recovers to its whole batches when it is cut at any byte', async () => {
    for (let cut = HEADER_BYTES; cut <= sample.log.length; cut++) {
      const { list } = await recoverFrom(diskWith(sample.log.subarray(0, cut), sample))
      expect(list).toEqual(recordsUpTo(sample, cut))
    }
  })

  it('goes on from a cut with appends that survive the next loss of power', async () => {
    for (let cut = HEADER_BYTES; cut <= sample.log.length; cut += 7) {
      await expectUsable(diskWith(sample.log.subarray(0, cut), sample), recordsUpTo(sample, cut))
    }
  })

  it('recovers to its whole batches when it is zero from any byte on', async () => {
    for (let cut = HEADER_BYTES; cut < sample.log.length; cut += 3) {
      const log = Buffer.alloc(sample.log.length + 1000)
      sample.log.copy(log, 0, 0, cut)
      const { list } = await recoverFrom(diskWith(log, sample))
      // A batch whose last bytes are zeros anyway is whole in spite of the cut.
      const whole = sample.batches.filter(({ end }) =>
        log.subarray(0, end).equals(sample.log.subarray(0, end)),
      )
      expect(list).toEqual(whole.flatMap((batch) => batch.records))
    }
  })

  it('says where it was cut', async () => {
    const [first] = sample.batches
    const { journal } = await recoverFrom(
      diskWith(sample.log.subarray(0, (first?.end ?? 0) + 9), sample),
    )
    expect(journal.recovery.cut).toEqual({ file: LOG, offset: first?.end })
  })

  it('is refused when not even its header is there, because that was durable', async () => {
    for (let cut = 0; cut < HEADER_BYTES; cut++) {
      const opening = recoverFrom(diskWith(sample.log.subarray(0, cut), sample))
      await expect(opening).rejects.toMatchObject({
        code: 'LOCK_STORAGE_DAMAGED',
        details: { offset: 0 },
      })
    }
  })

  it('loses the last batch whole when only some of its sectors were written', async () => {
    const random = new Random('holes')
    const start = sample.batches.at(-2)?.end ?? 0
    for (let round = 0; round < 200; round++) {
      const log = Buffer.from(sample.log)
      const from = random.int(start, log.length - 1)
      log.fill(0, from, random.int(from + 1, log.length))
      const { list } = await recoverFrom(diskWith(log, sample))
      const isWhole = log.equals(sample.log)
      expect(list).toEqual(recordsUpTo(sample, isWhole ? log.length : start))
    }
  })

  it('does not take bytes of another log for its own', async () => {
    const other = await createSample('kill')
    const start = sample.batches[6]?.end ?? 0
    const stale = Buffer.concat([sample.log.subarray(0, start), other.log.subarray(start)])
    await expectUsable(diskWith(stale, sample), recordsUpTo(sample, start))
  })
})

describe('a log of another version', () => {
  it('is refused with its version, and not taken for damage', async () => {
    const sample = await createSample('close')
    const { log } = sample
    log.writeUInt32LE(3, 8)
    log.writeUInt32LE(new RunningChecksum(0).update(log, 0, HEADER_BYTES - 4), HEADER_BYTES - 4)
    const failure = await recoverFrom(diskWith(log, sample)).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'LOCK_STORAGE_NEWER', details: { version: 3 } })
  })
})

describe('a log with one bit flipped', SLOW, () => {
  it('is refused with a message that says where and what to do', async () => {
    const sample = await createSample('kill')
    const { log, batches } = sample
    const at = batches[3]?.end ?? 0
    log.writeUInt8(log.readUInt8(at + 30) ^ 1, at + 30)
    const message = new RegExp(`damaged in ${LOG} at byte ${at}: batch 5 .* backup`)
    await expect(recoverFrom(diskWith(log, sample))).rejects.toThrow(message)
    await expect(recoverFrom(diskWith(log, sample))).rejects.toMatchObject({
      details: { file: LOG, offset: at },
    })
  })

  const refusedAt = (offset: number): string => `refused at ${offset}`
  const recoveredTo = (list: readonly string[]): string => list.join('|')

  async function flip(sample: Sample, bit: number): Promise<string> {
    const log = Buffer.from(sample.log)
    const at = bit >> 3
    log.writeUInt8(log.readUInt8(at) ^ (1 << (bit & 7)), at)
    try {
      return recoveredTo((await recoverFrom(diskWith(log, sample))).list)
    } catch (error) {
      if (!isLockError(error, 'LOCK_STORAGE_DAMAGED') || error.details['file'] !== LOG) throw error
      return refusedAt(error.details['offset'] as number)
    }
  }

  function expected(sample: Sample, at: number, ending: 'kill' | 'close'): string {
    if (at < HEADER_BYTES) return refusedAt(0)
    const last = sample.batches.at(-1)?.end ?? 0
    // Behind the last batch lies the one that closes the log.
    if (at >= last) return refusedAt(last)
    const index = sample.batches.findIndex((batch) => at < batch.end)
    const start = sample.batches[index - 1]?.end ?? HEADER_BYTES
    const isInDoubt = ending === 'kill' && index === sample.batches.length - 1
    return isInDoubt ? recoveredTo(recordsUpTo(sample, start)) : refusedAt(start)
  }

  it.each([
    ['kill', 'is refused at the batch concerned, or loses the last batch of a killed process', 1],
    ['close', 'is refused at the batch concerned, the last one included when it was closed', 7],
  ] as const)('after a %s %s', async (ending, _, step) => {
    const sample = await createSample(ending)
    const wrong: number[] = []
    for (let bit = 0; bit < sample.log.length * 8; bit += step) {
      if ((await flip(sample, bit)) !== expected(sample, bit >> 3, ending)) wrong.push(bit)
    }
    expect(wrong).toEqual([])
  })
})
