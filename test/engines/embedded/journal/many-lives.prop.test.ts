import { describe, it } from 'vitest'

import { isLockError } from '../../../../src/engine/errors/errors.ts'
import { Random } from '../../../../src/testing/random.ts'
import {
  type DiskFault,
  type DiskOperation,
  SimulatedDisk,
} from '../../../../src/testing/simulated-disk.ts'
import { type CountedOwner, Ledger } from './ledger.ts'
import { ListOwner } from './list-owner.ts'
import { PairOwner } from './pair-owner.ts'

const { HOLDFAST_SEED: seed, HOLDFAST_TEST_DOSE: dose } = process.env
const SEEDS = dose === 'long' ? 15_000 : 150
const TIMEOUT_MS = dose === 'long' ? 3_600_000 : 120_000
const LIVES = 8

/** Each seed has its own mixture of faults, and each life of the journal its own end. */
async function live(ownSeed: string): Promise<void> {
  const random = new Random(ownSeed)
  const faults = random.fork('faults')
  const weights = {
    crash: faults.pick([0, 0, 0.01, 0.05]),
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
  const ledger = new Ledger()
  const newOwner = random.pick<() => CountedOwner>([() => new ListOwner(), () => new PairOwner()])
  const options = {
    preallocateBytes: random.pick([0, 64, 500]),
    compactMinBytes: random.pick([200, 1000]),
    defer: random.pick<(run: () => void) => void>([queueMicrotask, setImmediate]),
  }
  for (let i = 0; i < LIVES; i++) {
    const crashed = new Promise<void>((resolve) => {
      hasCrashed = () => setImmediate(resolve)
    })
    const work = async (): Promise<void> => {
      const journal = await ledger.open(disk.mount(), newOwner(), options)
      await journal.work(random.int(0, 60))
      if (random.chance(0.3)) await journal.journal.close()
    }
    await Promise.race([work(), crashed]).catch(assertDiskFailure)
    disk[random.pick(['kill', 'crash'] as const)]()
  }
  weights.crash = 0
  weights.error = 0
  await ledger.open(disk.mount(), newOwner(), options)
}

function assertDiskFailure(error: unknown): void {
  const cause = isLockError(error, 'LOCK_STORAGE_FAILED') ? error.cause : error
  const { code } = cause as NodeJS.ErrnoException
  if (code !== 'EIO' && code !== 'ENOSPC') throw error
}

const seeds = seed === undefined ? Array.from({ length: SEEDS }, (_, i) => String(i + 1)) : [seed]

describe('a journal that lives through many lives', () => {
  it('never loses what it acknowledged or showed, nor makes anything up', {
    timeout: TIMEOUT_MS,
  }, async () => {
    for (const each of seeds) {
      await live(each).catch((cause: unknown) => {
        throw new Error(`HOLDFAST_SEED=${each} replays this: ${String(cause)}`, { cause })
      })
    }
  })
})
