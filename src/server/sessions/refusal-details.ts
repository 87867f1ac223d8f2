import type { Outcome, Refused } from '../../law/model/outcomes.ts'
import type { Clock } from '../../time/clock.ts'
import { RecentMap } from '../recent-map.ts'

/** As long as the law remembers the refusal itself. */
const KEPT_MS = 60_000
const KEPT_MAX = 10_000

/**
 * What a refusal says beyond its code: who holds, which circle, which nodes. The law remembers only that
 * a request was refused and why; a client that asks again because it did not hear the answer is told all
 * of it.
 */
export class RefusalDetails {
  readonly #recent: RecentMap<Refused>

  constructor(clock: Clock) {
    this.#recent = new RecentMap({ clock, keptMs: KEPT_MS, keptMax: KEPT_MAX })
  }

  /** The outcome of the request of this name, with what an earlier answer to it said. */
  complete(name: string, outcome: Outcome): Outcome {
    if (outcome.kind !== 'refused') return outcome
    if (hasDetails(outcome)) {
      this.#recent.set(name, outcome)
      return outcome
    }
    const earlier = this.#recent.get(name)
    return earlier?.code === outcome.code ? earlier : outcome
  }
}

function hasDetails({ holders, cycle, nodes, detail }: Refused): boolean {
  return (holders ?? cycle ?? nodes ?? detail) !== undefined
}
