import { isLockError } from '../../../engine/errors/errors.ts'
import type { Outcome } from '../../../law/model/outcomes.ts'
import { keyOf } from '../snapshot/key-loader.ts'
import type { KeyJob } from './key-run.ts'
import type { WorkResult } from './decide-jobs.ts'
import type { KeyWork } from './key-work.ts'
import type { Transactor } from './transactor.ts'

/** How many commands go into one transaction, at most; fewer than the second are not worth dividing. */
const BATCH_MAX = 128
const BATCH_MIN = 8

interface PendingJob {
  readonly job: KeyJob
  readonly key: string
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

export interface JobQueueOptions {
  readonly work: KeyWork
  readonly transactor: Transactor
  /** How many transactions run at the same time. */
  readonly transactions: number
  /**
   * Called when a transaction has committed, before anyone is answered. Returns a promise where the
   * answers have to wait for something; it never rejects.
   */
  readonly onCommitted: (result: WorkResult) => Promise<void> | undefined
}

/**
 * The commands that wait for a transaction. Those that arrive while others are under way go together into
 * the next one, so that many cost little more than one; those on one key keep their order. Where several
 * transactions run at the same time, none takes more than half: whoever is answered asks again at once, and
 * if all were answered together, this process and the database would each rest while the other works.
 */
export class JobQueue {
  readonly #options: JobQueueOptions
  #pending: PendingJob[] = []
  readonly #busyKeys = new Set<string>()
  #underWay = 0
  readonly #onIdle: (() => void)[] = []
  #running = 0
  #isScheduled = false

  constructor(options: JobQueueOptions) {
    this.#options = options
  }

  add(job: KeyJob): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ job, key: keyOf(job.name), resolve, reject })
      this.#schedule()
    })
  }

  /** Resolves when everything that was added has been answered. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
      this.#tellIdle()
    })
  }

  #tellIdle(): void {
    if (this.#running > 0 || this.#pending.length > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /** What is added in one turn goes together: a release, and what its caller and the next holder ask then. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Whoever is answered goes on in a microtask, and ticks come when there are no more of these.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#isScheduled = false
        this.#pump()
      }),
    )
  }

  #pump(): void {
    while (this.#running < this.#options.transactions) {
      const batch = this.#takeBatch()
      if (batch.length === 0) return
      this.#running += 1
      this.#underWay += batch.length
      void this.#run(batch).finally(() => {
        this.#running -= 1
        this.#underWay -= batch.length
        for (const { key } of batch) this.#busyKeys.delete(key)
        this.#pump()
        this.#tellIdle()
      })
    }
  }

  #sizeOfBatch(): number {
    if (this.#options.transactions === 1) return BATCH_MAX
    const half = Math.ceil((this.#underWay + this.#pending.length) / 2)
    return Math.min(BATCH_MAX, Math.max(BATCH_MIN, half))
  }

  #takeBatch(): PendingJob[] {
    const batch: PendingJob[] = []
    const rest: PendingJob[] = []
    const most = this.#sizeOfBatch()
    // Whoever comes after one that stays behind must not pass it.
    const behind = new Set(this.#busyKeys)
    for (const one of this.#pending) {
      if (batch.length < most && !behind.has(one.key)) {
        batch.push(one)
      } else {
        rest.push(one)
        behind.add(one.key)
      }
    }
    this.#pending = rest
    for (const { key } of batch) this.#busyKeys.add(key)
    return batch
  }

  async #run(batch: readonly PendingJob[]): Promise<void> {
    const { onCommitted } = this.#options
    try {
      const result = await this.#decide(batch.map(({ job }) => job))
      const answer = (): void => {
        for (const [index, one] of batch.entries()) one.resolve(result.outcomes[index] as Outcome)
      }
      const isToldFirst = onCommitted(result)
      if (isToldFirst === undefined) answer()
      else void isToldFirst.then(answer)
    } catch (error) {
      // One that cannot be decided or written must not take the others with it.
      if (batch.length > 1 && isRefused(error)) {
        for (const one of batch) await this.#run([one])
        return
      }
      for (const { reject } of batch) reject(error)
    }
  }

  async #decide(jobs: readonly KeyJob[]): Promise<WorkResult> {
    const { work, transactor } = this.#options
    const guess = await work.guess(jobs)
    const result = guess && (await transactor.tryOptimistic(guess))
    return result ?? transactor.writeScript(work.plan(jobs))
  }
}

/** Nothing happened, and the database is there: something is wrong with one of the commands. */
function isRefused(error: unknown): boolean {
  return isLockError(error) && error.applied === 'no' && error.code !== 'LOCK_ENGINE_UNAVAILABLE'
}
