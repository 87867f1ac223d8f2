import type { Mode } from '../../../law/model/view.ts'
import type { Problems } from '../problems.ts'
import type { SimulatedProcess } from '../simulated-process.ts'

/** A lock that a client has, as the library presents it. */
export interface BelievedLock {
  readonly key: string
  readonly mode: Mode
  readonly owner: string
  readonly token: number
}

interface Belief {
  readonly lock: BelievedLock
  readonly process: SimulatedProcess
  readonly signal: AbortSignal
}

/**
 * Who relies on which lock because the library says that it may: its handle is there, and its signal has
 * not aborted. A process that is paused cannot act on it, so it counts again when it has caught up.
 */
export class BeliefBoard {
  readonly #problems: Problems
  readonly #beliefs = new Set<Belief>()

  constructor(problems: Problems) {
    this.#problems = problems
  }

  /** From now until the returned function is called. */
  add(belief: Belief): () => void {
    this.#beliefs.add(belief)
    const remove = (): void => void this.#beliefs.delete(belief)
    belief.process.onDeath(remove)
    return remove
  }

  checkStep(): void {
    const relied = [...this.#beliefs].filter(({ process, signal }) => {
      return process.isUpToDate && !signal.aborted
    })
    for (const [index, one] of relied.entries()) {
      const other = relied
        .slice(index + 1)
        .find((candidate) => isConflict(one.lock, candidate.lock))
      if (other === undefined) continue
      const names = [one, other].map(({ lock }) => `${lock.owner} (${lock.mode} #${lock.token})`)
      this.#problems.add('S1 exclusion', `lock ${one.lock.key}: ${names.join(' and ')} rely on it`)
    }
  }
}

function isConflict(one: BelievedLock, other: BelievedLock): boolean {
  if (one.key !== other.key || one.owner === other.owner) return false
  return one.mode === 'write' || other.mode === 'write'
}
