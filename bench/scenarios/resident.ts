import type { LockEngine } from 'holdfast/engine'
import { importEmbeddedEngine } from '../built-package.ts'
import { runCycles } from '../cycle-workers.ts'
import { formatCount } from '../report/format-figures.ts'
import { createKey, createKeys, createOwner } from '../lock-names.ts'
import { createEngineLocker } from '../lockers/engine-locker.ts'
import { RoundTimer } from '../round-timer.ts'
import type { Comparison, Contestant, Dose, Sample, Scenario } from '../scenario.ts'

const OTHER_KEYS = 'other keys'
const HELD_KEYS = 'the held keys'
const OTHER_COUNT = 1024
const TTL_MS = 3_600_000
/** A prime, so that going round by it visits every lock, far from the one before. */
const STRIDE = 618_041

class Residents {
  readonly #engine: LockEngine
  readonly #keys: readonly string[]
  readonly #owners: readonly string[]
  #requests = 0
  #next = 0

  constructor(engine: LockEngine, count: number) {
    this.#engine = engine
    this.#keys = createKeys(count)
    this.#owners = Array.from({ length: count }, (_, index) => createOwner(index))
  }

  async holdAll(): Promise<void> {
    for (const index of this.#keys.keys()) await this.#acquire(index)
  }

  /** Release one of them and acquire it again, each time another, all over the table. */
  async measure(durationMs: number): Promise<Sample> {
    const timer = new RoundTimer(durationMs)
    while (!timer.isOver) {
      this.#next = (this.#next + STRIDE) % this.#keys.length
      const key = this.#keys[this.#next] as string
      const owner = this.#owners[this.#next] as string
      await this.#engine.apply({ kind: 'release', key, owner })
      await this.#acquire(this.#next)
      timer.operations += 1
      timer.tick()
    }
    return timer.stop()
  }

  async #acquire(index: number): Promise<void> {
    this.#requests += 1
    await this.#engine.apply({
      kind: 'acquire',
      key: this.#keys[index] as string,
      owner: this.#owners[index] as string,
      requestId: `request-${this.#requests}`,
      ttlMs: TTL_MS,
    })
  }
}

async function open(count: number): Promise<Contestant> {
  const { openMemoryEngine } = await importEmbeddedEngine()
  const engine = openMemoryEngine()
  const residents = new Residents(engine, count)
  await residents.holdAll()
  const locker = createEngineLocker(engine)
  const keys = Array.from({ length: OTHER_COUNT }, (_, index) => createKey(count + index))
  return {
    measure: (caseName, durationMs) =>
      caseName === HELD_KEYS
        ? residents.measure(durationMs)
        : runCycles(locker, { keys, concurrency: 1, durationMs }),
    close: () => engine.close(),
  }
}

export function createScenario({ fewHeld, manyHeld }: Dose): Scenario {
  const few = `${formatCount(fewHeld)} held`
  const many = `${formatCount(manyHeld)} held`
  const cases = [OTHER_KEYS, HELD_KEYS]
  const compare = (caseName: string): Comparison => ({
    caseName,
    contestant: many,
    against: few,
    atLeast: 0.5,
  })
  return {
    name: 'resident',
    title:
      'The engine alone with few and with many locks held all the time: cycles on other keys, and releasing and acquiring again the held ones, which touches the whole table.',
    figure: { kind: 'rate', operation: 'cycle' },
    cases,
    contestants: { [few]: () => open(fewHeld), [many]: () => open(manyHeld) },
    ours: [few, many],
    comparisons: cases.map(compare),
  }
}
