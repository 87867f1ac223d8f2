import { describe, expect, it } from 'vitest'

import { isLockError } from '../../../../src/engine/errors/errors.ts'
import type { Disk } from '../../../../src/engines/embedded/journal/disk.ts'
import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { Random } from '../../../../src/testing/random.ts'
import {
  type DiskFault,
  type DiskOperation,
  SimulatedDisk,
} from '../../../../src/testing/simulated-disk.ts'
import { TokenOwner } from './token-owner.ts'

const { HOLDFAST_SEED: seed, HOLDFAST_TEST_DOSE: dose } = process.env
const SEEDS = dose === 'long' ? 5_000 : 60
const TIMEOUT_MS = dose === 'long' ? 3_600_000 : 120_000
const LIVES = 6
const HEADER_BYTES = 40

/** What is known, apart from the disk, of the tokens that a journal has lived through. */
class Account {
  /** The tokens that were given out: each with its record acknowledged. */
  readonly acknowledged: number[] = []

  get highest(): number {
    return Math.max(0, ...this.acknowledged)
  }

  async open(disk: Disk, random: Random): Promise<Life> {
    const owner = new TokenOwner()
    const journal = await Journal.open(disk, owner, {
      preallocateBytes: random.pick([0, 64, 500]),
      compactMinBytes: random.pick([200, 1000]),
      numbersPerMark: random.pick([1, 3, 20]),
      defer: random.pick<(run: () => void) => void>([queueMicrotask, setImmediate]),
    })
    const known = new Set(owner.tokens)
    expect(this.acknowledged.filter((token) => !known.has(token))).toEqual([])
    return new Life(this, journal, owner)
  }
}

/** A journal from its opening to its end. */
class Life {
  readonly journal: Journal
  readonly owner: TokenOwner
  readonly #account: Account

  constructor(account: Account, journal: Journal, owner: TokenOwner) {
    this.#account = account
    this.journal = journal
    this.owner = owner
  }

  async give(): Promise<void> {
    const { token, record } = this.owner.give()
    expect(token).toBeGreaterThan(this.#account.highest)
    await this.journal.append(record)
    this.#account.acknowledged.push(token)
  }

  /** Works on as long as there is only no room, and that for a few moments. */
  async workThroughFull(count: number): Promise<void> {
    await this.work(count).catch(async (error: unknown) => {
      for (let tries = 0; this.journal.full !== null && tries < 5; tries++) {
        if (await this.journal.retry()) return this.workThroughFull(count)
      }
      throw error
    })
  }

  async work(count: number): Promise<void> {
    const one = async (_: unknown, which: number): Promise<void> => {
      for (let i = which; i < count; i += 3) await this.give()
    }
    await Promise.all(Array.from({ length: 3 }, one))
  }
}

function assertDiskFailure(error: unknown): void {
  const cause = isLockError(error, 'LOCK_STORAGE_FAILED') ? error.cause : error
  const { code } = cause as NodeJS.ErrnoException
  if (code !== 'EIO' && code !== 'ENOSPC') throw error
}

/** A disk after some lives, each with its own end, and what is known of it. */
async function liveOn(random: Random): Promise<{ disk: SimulatedDisk; account: Account }> {
  const faults = random.fork('faults')
  const weights = {
    crash: faults.pick([0, 0.01, 0.05]),
    error: faults.pick([0, 0, 0.01, 0.05]),
  }
  let hasCrashed = (): void => {}
  const fault = ({ kind }: DiskOperation): DiskFault | undefined => {
    if (faults.chance(weights.crash)) {
      hasCrashed()
      return { kind: 'crash' }
    }
    const canFail = kind !== 'read' && kind !== 'list' && faults.chance(weights.error)
    return canFail ? { kind: 'error', code: faults.pick(['EIO', 'ENOSPC']) } : undefined
  }
  const disk = new SimulatedDisk({ random: random.fork('disk'), fault })
  const account = new Account()
  for (let i = 0; i < LIVES; i++) {
    const crashed = new Promise<void>((resolve) => {
      hasCrashed = () => setImmediate(resolve)
    })
    const work = async (): Promise<void> => {
      const life = await account.open(disk.mount(), random)
      await life.workThroughFull(random.int(0, 40))
      if (random.chance(0.5)) await life.journal.close()
    }
    await Promise.race([work(), crashed]).catch(assertDiskFailure)
    disk[random.pick(['kill', 'crash'] as const)]()
  }
  weights.crash = 0
  weights.error = 0
  return { disk, account }
}

/** The same files on a disk of their own. */
function copyOf(disk: SimulatedDisk): SimulatedDisk {
  const copy = new SimulatedDisk({ random: new Random('copy') })
  for (const name of disk.names()) copy.put(name, disk.contents(name))
  return copy
}

function lastLog(disk: SimulatedDisk): string {
  return disk.names().findLast((name) => /^log-\d+$/.test(name)) as string
}

/** Where the frames of a log end; after them come zeros. */
function endOf(log: Buffer): number {
  let end = log.length
  while (end > HEADER_BYTES && log[end - 1] === 0) end -= 1
  return end
}

async function forEachSeed(check: (random: Random) => Promise<void>): Promise<void> {
  const seeds = seed === undefined ? Array.from({ length: SEEDS }, (_, i) => `${i + 1}`) : [seed]
  for (const each of seeds) {
    await check(new Random(each)).catch((cause: unknown) => {
      throw new Error(`HOLDFAST_SEED=${each} replays this: ${String(cause)}`, { cause })
    })
  }
}

describe('the mark of a journal', { timeout: TIMEOUT_MS }, () => {
  it('refuses no journal after any sequence of crashes, and no token is given twice', async () => {
    await forEachSeed(async (random) => {
      const { disk, account } = await liveOn(random)
      const last = await account.open(disk.mount(), random)
      await last.work(3)
      await last.journal.close()
    })
  })

  it('refuses every log that is cut or zeroed below the end of a journal that was closed', async () => {
    await forEachSeed(async (random) => {
      const { disk, account } = await liveOn(random)
      const life = await account.open(disk.mount(), random)
      await life.work(random.int(0, 10))
      await life.journal.close()
      const name = lastLog(disk)
      const whole = disk.contents(name)
      for (let round = 0; round < 10; round++) {
        const cut = random.int(0, endOf(whole) - 1)
        const damaged = Buffer.from(whole).fill(0, cut)
        if (damaged.equals(whole)) continue
        const copy = copyOf(disk)
        copy.put(name, random.chance(0.5) ? damaged : whole.subarray(0, cut))
        await expect(new Account().open(copy.mount(), random)).rejects.toMatchObject({
          code: 'LOCK_STORAGE_DAMAGED',
          message: expect.stringContaining('holdfast repair'),
        })
      }
    })
  })

  it('refuses a killed journal that lost what was durable at its mark, and no token is given twice', async () => {
    await forEachSeed(async (random) => {
      const account = new Account()
      let begun = 0
      let marked = 0
      const fault = ({ kind, file }: DiskOperation): undefined => {
        if (file !== 'mark.tmp') return
        if (kind === 'remove') begun = account.acknowledged.length
        if (kind === 'rename') marked = begun
      }
      const disk = new SimulatedDisk({ random: random.fork('disk'), fault })
      const life = await account.open(disk.mount(), random)
      await life.work(random.int(1, 40))
      disk.kill()
      const name = lastLog(disk)
      const whole = disk.contents(name)
      const durable = account.acknowledged.slice(0, marked)
      for (let round = 0; round < 10; round++) {
        const copy = copyOf(disk)
        const cut = random.int(HEADER_BYTES, endOf(whole))
        copy.put(
          name,
          random.chance(0.5) ? Buffer.from(whole).fill(0, cut) : whole.subarray(0, cut),
        )
        const owner = new TokenOwner()
        try {
          await Journal.open(copy.mount(), owner, { preallocateBytes: 0 })
        } catch (error) {
          expect(error).toMatchObject({ code: 'LOCK_STORAGE_DAMAGED' })
          continue
        }
        const known = new Set(owner.tokens)
        expect(durable.filter((token) => !known.has(token))).toEqual([])
        expect(owner.give().token).toBeGreaterThan(account.highest)
      }
    })
  })
})
