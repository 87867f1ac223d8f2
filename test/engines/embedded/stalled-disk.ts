import type { LockEngine } from '../../../src/engine/engine.ts'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import type { Clock } from '../../../src/time/clock.ts'

/** A disk that does nothing while it is stalled, and whose writes then fail if it is told so. */
export class StalledDisk {
  isStalled = false
  isFailing = false
  readonly #held: (() => void)[] = []
  readonly #disk = new SimulatedDisk({
    random: new Random('stalled'),
    defer: (run) => {
      if (this.isStalled) this.#held.push(run)
      else queueMicrotask(run)
    },
    fault: () => (this.isFailing ? { kind: 'error', code: 'EIO' } : undefined),
  })

  /** Whether somebody waits for it. */
  get isAwaited(): boolean {
    return this.#held.length > 0
  }

  /** An engine on it. */
  open(clock: Clock): Promise<LockEngine> {
    const journal = { preallocateBytes: 4_096 }
    return openStoredEngine(this.#disk.mount(), { clock, journal })
  }

  goOn(): void {
    this.isStalled = false
    for (const run of this.#held.splice(0)) run()
  }
}
