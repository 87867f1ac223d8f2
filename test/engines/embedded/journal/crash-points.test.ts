import { describe, expect, it } from 'vitest'

import { Random } from '../../../../src/testing/random.ts'
import {
  type DiskFault,
  type DiskOperation,
  SimulatedDisk,
} from '../../../../src/testing/simulated-disk.ts'
import { type CountedOwner, Ledger } from './ledger.ts'
import { ListOwner } from './list-owner.ts'
import { PairOwner } from './pair-owner.ts'

/** With microtasks on both sides, appends and compaction take turns at every step. */
const OPTIONS = { preallocateBytes: 256, compactMinBytes: 400, defer: queueMicrotask }
const RECORDS = 60
/** Hundreds of runs take seconds, and more on a busy machine. */
const SLOW = { timeout: 120_000 }

type Fault = DiskFault | { readonly kind: 'kill' }

/** A disk on which one operation of the script goes wrong, and what the journal must then know. */
class Trial {
  readonly ledger = new Ledger()
  readonly disk: SimulatedDisk
  hasFault = false
  readonly #ended: Promise<'ended'>
  #isOver = false

  constructor(at: number, fault: Fault, seed: string) {
    let onEnd: (outcome: 'ended') => void = () => {}
    this.#ended = new Promise((resolve) => {
      onEnd = resolve
    })
    const decide = ({ index }: DiskOperation): DiskFault | undefined => {
      if (this.#isOver || index !== at) return undefined
      this.hasFault = true
      if (fault.kind === 'error') return fault
      setImmediate(onEnd, 'ended')
      if (fault.kind === 'crash') return fault
      this.disk.kill()
      return undefined
    }
    this.disk = new SimulatedDisk({ random: new Random(`${seed} at ${at}`), fault: decide })
  }

  /** Runs the script as far as it gets; afterwards nothing goes wrong any more. */
  async run(owner: CountedOwner): Promise<'finished' | 'ended' | Error> {
    const finished = script(this, owner).then(() => 'finished' as const)
    const outcome = await Promise.race([finished, this.#ended]).catch((error: Error) => error)
    this.#isOver = true
    return outcome
  }
}

async function script({ disk, ledger }: Trial, owner: CountedOwner): Promise<void> {
  const first = await ledger.open(disk.mount(), owner, OPTIONS)
  await first.work(RECORDS)
  await first.journal.close()
}

/** Opens twice, with work and a loss of power in between. */
async function expectSound({ disk, ledger }: Trial, newOwner: () => CountedOwner): Promise<void> {
  const next = await ledger.open(disk.mount(), newOwner(), OPTIONS)
  await next.work(5)
  disk.crash()
  await ledger.open(disk.mount(), newOwner(), OPTIONS)
}

const OWNERS: [string, () => CountedOwner, number][] = [
  ['with a snapshot fixed at once', () => new ListOwner(), 3],
  ['with a snapshot made while appends go on', () => new PairOwner(), 1],
]

describe.each(OWNERS)('a journal %s', (_description, newOwner, seeds) => {
  it('compacts during the script, so that there is something to interrupt', async () => {
    const trial = new Trial(0, { kind: 'crash' }, 'undisturbed')
    await trial.run(newOwner())
    expect(trial.disk.names().filter((name) => name.startsWith('snapshot-'))).toHaveLength(1)
    await expectSound(trial, newOwner)
  })

  it.each([
    ['the power goes', 'crash'],
    ['the process is killed', 'kill'],
  ] as const)('keeps all it acknowledged when %s at any operation', SLOW, async (_, kind) => {
    for (let seed = 1; seed <= seeds; seed++) {
      for (let n = 1, isOver = false; !isOver; n++) {
        const trial = new Trial(n, { kind }, `seed ${seed}`)
        await trial.run(newOwner())
        isOver = !trial.hasFault
        await expectSound(trial, newOwner)
      }
    }
  })

  it.each(['ENOSPC', 'EIO'] as const)(
    'keeps all it acknowledged when any operation fails with %s',
    SLOW,
    async (code) => {
      for (let n = 1, isOver = false; !isOver; n++) {
        const trial = new Trial(n, { kind: 'error', code }, code)
        const outcome = await trial.run(newOwner())
        isOver = !trial.hasFault
        expect(outcome === 'finished' ? code : String(outcome)).toContain(code)
        // A process that ends leaves the page cache behind; the loss of power does not.
        trial.disk[n % 2 === 0 ? 'kill' : 'crash']()
        await expectSound(trial, newOwner)
      }
    },
  )
})
