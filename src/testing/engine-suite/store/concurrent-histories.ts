import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CheckOptions } from '../../checks/check-options.ts'
import { checkHistory } from '../../history-checks.ts'
import { HistoryRecorder } from '../../history-recorder.ts'
import { Random } from '../../random.ts'
import { type EngineRig, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'
import { LockWorker } from '../lock-worker.ts'
import { OperationWorker } from '../operation-worker.ts'
import { RecordedClient, type Recording } from '../recorded-client.ts'
import { takeTurns } from '../take-turns.ts'

const WORKERS = 6
const VISITS = 20

/** Far more than any run takes whose clients are all served or refused in the end. */
const TURNS_MAX = 20_000

/** A run in which less went well shows nothing. */
const SUCCESSES_MIN = 100

/** Searches that need more than this are one in many thousands; what is undecided is not a pass. */
const SEARCH_STEPS_MAX = 5_000_000

const CLAIM_MS = TTL_MS
const RETENTION_MS = 3 * TTL_MS
const SETTINGS = {
  claimWindowMs: CLAIM_MS,
  waiterPatienceMs: 3 * TTL_MS,
  retentionMs: RETENTION_MS,
}

const OPTIONS = { settings: SETTINGS }
/** Through a restart a memory may last longer, as a lease may; here none comes to its end. */
const LONG_RETENTION_MS = 100 * RETENTION_MS
const DURABLE = {
  settings: { ...SETTINGS, retentionMs: LONG_RETENTION_MS },
  needs: 'durable',
} as const

type Space = 'lock' | 'operation'

interface RunKind {
  readonly space: Space
  readonly crashes: boolean
}

/** One run of several clients against one engine, everything that it needs, and its record. */
class Run {
  readonly #rig: EngineRig
  readonly #random: Random
  readonly #recording: Recording
  readonly #space: Space
  readonly #names: readonly string[]

  constructor(rig: EngineRig, random: Random, space: Space) {
    this.#rig = rig
    this.#random = random
    this.#recording = { rig, recorder: new HistoryRecorder(rig.clock) }
    this.#space = space
    this.#names = ['one', 'two', 'three'].map((name) => `${random.seed}/${name}`)
  }

  /** Every client makes its visits; meanwhile time passes. */
  async work(phase: string, visits: number): Promise<void> {
    const workers = Array.from({ length: WORKERS }, (_, index) => {
      const name = `${this.#random.seed}-${phase}-${index}`
      const client = new RecordedClient(name, this.#recording)
      const random = this.#random.fork(name)
      const Worker = this.#space === 'lock' ? LockWorker : OperationWorker
      return new Worker(client, random, this.#names).run(visits)
    })
    let isWorking = true
    const done = Promise.all(workers).finally(() => {
      isWorking = false
    })
    const passing = this.#passTime(this.#random.fork(`${phase}/time`), () => isWorking)
    await Promise.all([done, passing])
  }

  /**
   * A read is answered when everything before it is on disk. Without it a virtual clock would outrun
   * the disk, and every lease with it.
   */
  async #passTime(random: Random, isWorking: () => boolean): Promise<void> {
    for (let turn = 0; isWorking() && this.#rig.isVirtual; turn += 1) {
      assert.ok(turn < TURNS_MAX, `seed ${this.#random.seed}: a client waits for ever`)
      await takeTurns(1)
      await this.#rig.stats()
      await this.#rig.advance(random.int(0, 300))
    }
  }

  /** The engine is killed between two calls and comes back. */
  async crash(): Promise<void> {
    await this.#rig.crash()
    this.#recording.recorder.mark('crash')
  }

  /** When everyone has left, whoever comes is served. */
  async heal(): Promise<void> {
    await this.#rig.advance(10 * TTL_MS)
    const client = new RecordedClient('last', this.#recording)
    for (const name of this.#names) {
      if (this.#space === 'lock') {
        const outcome = await client.acquire('last', { key: name, requestId: `last-${name}` })
        assert.equal(outcome?.kind, 'granted', `${name} is free again`)
        await client.release('last', { key: name })
      } else {
        const outcome = await client.begin('inspect', 'last', { resource: name })
        assert.equal(outcome?.kind, 'granted', `${name} is free again`)
        await client.finish('inspect', 'last', { resource: name, success: true })
      }
      await client.check(name, this.#space)
    }
  }

  /**
   * That the record has a legal explanation, and is long enough for that to mean something. Returns what
   * could not be decided, because the search would have taken too long.
   */
  assertExplained(retentionMs: number): readonly string[] {
    const options: CheckOptions = {
      retentionMs: this.#rig.ms(retentionMs),
      waiterSilenceMs: this.#rig.ms(CLAIM_MS),
      stepsMax: SEARCH_STEPS_MAX,
      queueSurvivesRestart: this.#rig.capabilities.queueSurvivesRestart,
      ...(this.#rig.isVirtual ? { clockRateError: 0 } : {}),
    }
    const { violations, undecided, counts } = checkHistory(
      this.#recording.recorder.history(),
      options,
    )
    const seed = `seed ${this.#random.seed}`
    const shown = violations.slice(0, 5).map(({ property, message }) => `${property}: ${message}`)
    assert.equal(violations.length, 0, [seed, ...shown].join('\n'))
    assert.ok(counts.ok >= SUCCESSES_MIN, `${seed}: only ${counts.ok} calls went well`)
    return undecided
  }
}

/** Seeds that are always the same, and one that nobody has tried yet. */
function listSeeds(rig: EngineRig): string[] {
  const { rounds = 3, seed } = rig.histories
  if (seed !== undefined) return [seed]
  const fixed = Array.from({ length: rounds - 1 }, (_, index) => `seed-${index + 1}`)
  return [...fixed, randomUUID()]
}

/** One run. Returns what of it could not be decided. */
async function explain(rig: EngineRig, seed: string, kind: RunKind): Promise<readonly string[]> {
  const { space, crashes } = kind
  const run = new Run(rig, new Random(seed), space)
  await run.work('first', crashes ? VISITS / 2 : VISITS)
  if (crashes) {
    await run.crash()
    await run.work('second', VISITS / 2)
  }
  await run.heal()
  return run.assertExplained(crashes ? LONG_RETENTION_MS : RETENTION_MS)
}

/** What is undecided is not a pass: the like of it is tried once more. */
async function explainAll(rig: EngineRig, kind: RunKind): Promise<void> {
  for (const seed of listSeeds(rig)) {
    if ((await explain(rig, seed, kind)).length === 0) continue
    const undecided = await explain(rig, `${seed}-again`, kind)
    assert.deepEqual(undecided, [], `seed ${seed}`)
  }
}

/** Whatever many clients do at once has a legal explanation, and everyone is served in the end. */
export const concurrentHistoriesSuite: EngineSuite = {
  name: 'concurrent histories',
  tests: [
    engineTest('what clients see of locks has a legal explanation', OPTIONS, async (rig) => {
      await explainAll(rig, { space: 'lock', crashes: false })
    }),

    engineTest('what nodes see of operations has a legal explanation', OPTIONS, async (rig) => {
      await explainAll(rig, { space: 'operation', crashes: false })
    }),

    engineTest('what clients see of locks through a crash is explained', DURABLE, async (rig) => {
      await explainAll(rig, { space: 'lock', crashes: true })
    }),

    engineTest(
      'what nodes see of operations through a crash is explained',
      DURABLE,
      async (rig) => {
        await explainAll(rig, { space: 'operation', crashes: true })
      },
    ),
  ],
}
