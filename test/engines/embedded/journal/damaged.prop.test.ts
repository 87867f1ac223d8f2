import { describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { repairJournal } from '../../../../src/engines/embedded/journal/repair.ts'
import { Random } from '../../../../src/testing/random.ts'
import { type DiskOperation, SimulatedDisk } from '../../../../src/testing/simulated-disk.ts'
import { TokenOwner } from './token-owner.ts'

const { HOLDFAST_SEED: seed, HOLDFAST_TEST_DOSE: dose } = process.env
/** Each journal is damaged in as many ways as there are rounds. */
const JOURNALS = dose === 'long' ? 300 : 12
const ROUNDS = dose === 'long' ? 20 : 5
const TIMEOUT_MS = dose === 'long' ? 3_600_000 : 120_000
const OPTIONS = { preallocateBytes: 300, compactMinBytes: 600, numbersPerMark: 10 }

interface Sample {
  readonly disk: SimulatedDisk
  readonly given: readonly number[]
  /** Marks that it had before the last one. */
  readonly oldMarks: readonly Buffer[]
}

/** A journal of some lives, most of them long enough for a snapshot. */
async function createSample(random: Random): Promise<Sample> {
  const given: number[] = []
  const oldMarks: Buffer[] = []
  const fault = ({ kind, file }: DiskOperation): undefined => {
    if (kind !== 'rename' || file !== 'mark.tmp' || !disk.names().includes('mark')) return
    oldMarks.push(disk.contents('mark'))
  }
  const disk: SimulatedDisk = new SimulatedDisk({ random: random.fork('disk'), fault })
  const lives = random.int(1, 4)
  for (let life = 1; life <= lives; life++) {
    const owner = new TokenOwner()
    const journal = await Journal.open(disk.mount(), owner, OPTIONS)
    const count = random.int(5, 60)
    for (let i = 0; i < count; i++) {
      const { token, record } = owner.give()
      await journal.append(record)
      given.push(token)
    }
    if (random.chance(0.5)) await journal.close()
    else disk[random.pick(['kill', 'crash'] as const)]()
  }
  return { disk, given, oldMarks }
}

/** One way in which a file can be damaged; null removes it. */
function damage(bytes: Buffer, random: Random): Buffer | null {
  const at = random.int(0, bytes.length - 1)
  const kind = random.pick(['cut', 'zeroed', 'hole', 'flipped', 'deleted'] as const)
  if (kind === 'deleted') return null
  if (kind === 'cut') return bytes.subarray(0, at)
  if (kind === 'zeroed') return Buffer.from(bytes).fill(0, at)
  if (kind === 'hole') return Buffer.from(bytes).fill(0, at, random.int(at + 1, bytes.length))
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << random.int(0, 7)), at)
  return flipped
}

/** A copy with one to three things damaged, and the old mark that was put into it, if there was one. */
function damagedCopy(sample: Sample, random: Random): { copy: SimulatedDisk; old?: Buffer } {
  const files = new Map(sample.disk.names().map((name) => [name, sample.disk.contents(name)]))
  for (let count = random.int(1, 3); count > 0; count--) {
    const name = random.pick([...files.keys()])
    const bytes = damage(files.get(name) ?? Buffer.alloc(0), random)
    if (bytes !== null && bytes.length > 0) files.set(name, bytes)
    // A directory from which everything was deleted is a new one.
    else if (files.size > 1) files.delete(name)
  }
  const old = random.chance(0.3) ? random.pick([...sample.oldMarks]) : undefined
  if (old !== undefined) files.set('mark', old)
  const copy = new SimulatedDisk({ random: random.fork('copy') })
  for (const [name, bytes] of files) copy.put(name, bytes)
  return old === undefined ? { copy } : { copy, old }
}

function ceilingOf(mark: Buffer): number {
  return Number(mark.readBigUInt64LE(40))
}

async function openOrRepair(disk: SimulatedDisk): Promise<{ owner: TokenOwner; how: string }> {
  const owner = new TokenOwner()
  try {
    await Journal.open(disk.mount(), owner, OPTIONS)
    return { owner, how: 'opened' }
  } catch (error) {
    expect(error).toMatchObject({
      code: expect.stringMatching(/^LOCK_STORAGE_(?:DAMAGED|NEWER)$/),
      message: expect.stringMatching(/holdfast repair DIR|Upgrade first/),
    })
  }
  expect(await repairJournal(disk.mount(), () => new TokenOwner())).toMatchObject({
    kind: 'repaired',
  })
  const repaired = new TokenOwner()
  await Journal.open(disk.mount(), repaired, OPTIONS)
  return { owner: repaired, how: 'repaired' }
}

describe('a damaged journal', { timeout: TIMEOUT_MS }, () => {
  it('is refused or opened, and in neither case is a token given out twice', async () => {
    const seeds =
      seed === undefined ? Array.from({ length: JOURNALS }, (_, i) => `${i + 1}`) : [seed]
    const count = { opened: 0, repaired: 0, earlier: 0 }
    const check = async (random: Random): Promise<void> => {
      const sample = await createSample(random)
      const highest = Math.max(...sample.given)
      for (let round = 0; round < ROUNDS; round++) {
        const { copy, old } = damagedCopy(sample, random)
        const { owner, how } = await openOrRepair(copy)
        // What is kept is the beginning of what was recorded, without a hole.
        const kept = owner.tokens.length
        expect(owner.tokens).toEqual(sample.given.slice(0, kept))
        // An old mark and a log that ends below its ceiling are what a restored backup is: no file says otherwise.
        const isEarlier = old !== undefined && (owner.tokens.at(-1) ?? 0) <= ceilingOf(old)
        if (isEarlier) count.earlier++
        else {
          count[how as 'opened' | 'repaired']++
          expect(owner.give().token).toBeGreaterThan(highest)
        }
      }
    }
    for (const each of seeds) {
      await check(new Random(each)).catch((cause: unknown) => {
        throw new Error(`HOLDFAST_SEED=${each} replays this: ${String(cause)}`, { cause })
      })
    }
    if (seed === undefined) {
      expect(count.opened).toBeGreaterThan(0)
      expect(count.repaired).toBeGreaterThan(seeds.length)
      expect(count.earlier).toBeLessThan(count.repaired / 2)
    }
  })
})
