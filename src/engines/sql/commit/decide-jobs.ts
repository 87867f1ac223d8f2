import type { Outcome } from '../../../law/model/outcomes.ts'
import { type KeyJob, KeyRun, type KeyWorkOptions, type Settled } from './key-run.ts'
import type { KeySnapshot } from '../snapshot/key-snapshot.ts'
import type { SnapshotCache } from '../snapshot/snapshot-cache.ts'
import type { TransactionContext } from './transaction-context.ts'
import type { Closing } from './transactor.ts'

export interface WorkResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly Outcome[]
  readonly settled: readonly Settled[]
  readonly nowMs: number
  /** The soonest moment at which anything of these keys is due. */
  readonly dueAtMs: number
  /** Something was written that watchers are to be told. */
  readonly hasEvents: boolean
}

export interface Decisions {
  readonly options: KeyWorkOptions
  readonly cache: SnapshotCache
  readonly context: TransactionContext
  readonly snapshots: readonly KeySnapshot[]
}

/** Ask the law for each job in turn. What it changes has yet to be written, and is kept in mind after that. */
export async function decideJobs(
  jobs: readonly KeyJob[],
  { options, cache, context, snapshots }: Decisions,
): Promise<Closing<WorkResult>> {
  const run = new KeyRun(options, context, snapshots)
  const outcomes: Outcome[] = []
  for (const job of jobs) {
    const outcome = await run.decide(job)
    await job.also?.(context, outcome)
    outcomes.push(outcome)
  }
  const { last, dueAtMsOf } = run.write()
  return {
    last,
    toResult: (found) => {
      const dueAtMs = dueAtMsOf(found)
      run.keep(cache)
      const { settled, hasEvents } = run
      return { outcomes, settled, nowMs: context.nowMs, dueAtMs, hasEvents }
    },
  }
}
