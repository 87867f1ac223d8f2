import type { FaultKind } from './fault-kinds.ts'
import { runSimulation, type SimulationOptions, type SimulationReport } from './run-simulation.ts'

/** The smallest failure that was found, and how to have it again. */
export interface ShrunkFailure {
  readonly options: SimulationOptions
  readonly report: SimulationReport
  /** How many runs it took. */
  readonly runs: number
}

/**
 * Makes a failure smaller: leaves out one kind of fault after the other, then one client after the other,
 * then ends the faults earlier, and keeps what still violates the same property. The seed stays the same.
 */
export async function shrinkFailure(
  options: SimulationOptions,
  failed: SimulationReport,
): Promise<ShrunkFailure> {
  const shrinking = new Shrinking(options, failed)
  await shrinking.dropFaults()
  await shrinking.dropClients()
  await shrinking.endEarlier()
  return shrinking.result()
}

class Shrinking {
  #options: SimulationOptions
  #report: SimulationReport
  #runs = 0

  constructor(options: SimulationOptions, report: SimulationReport) {
    this.#options = options
    this.#report = report
  }

  result(): ShrunkFailure {
    return { options: this.#options, report: this.#report, runs: this.#runs }
  }

  async dropFaults(): Promise<void> {
    const without: FaultKind[] = [...(this.#options.without ?? [])]
    for (const kind of this.#report.plan.faults) {
      if (await this.#try({ without: [...without, kind] })) without.push(kind)
    }
  }

  async dropClients(): Promise<void> {
    const names = this.#report.plan.clients.map(({ name }) => name)
    for (const name of names) {
      const left = this.#report.plan.clients.filter((client) => client.name !== name)
      if (left.length > 0) await this.#try({ clients: left.map((client) => client.name) })
    }
  }

  async endEarlier(): Promise<void> {
    let low = 0
    for (let high = this.#report.steps; high - low > 1; ) {
      const middle = (low + high) >> 1
      if (await this.#try({ steps: middle })) high = middle
      else low = middle
    }
  }

  /** Whether it fails in the same way with this as well; then that is kept. */
  async #try(change: Partial<SimulationOptions>): Promise<boolean> {
    const options = { ...this.#options, ...change }
    const report = await runSimulation(options)
    this.#runs += 1
    if (report.problem?.property !== this.#report.problem?.property) return false
    this.#options = options
    this.#report = report
    return true
  }
}
