import { Counter, type Registry } from 'prom-client'

/** A number that is added to as things happen, at the cost of an addition. */
export interface Count {
  value: number
}

interface CountsOptions {
  /** By the Prometheus conventions: it only grows, so it ends with `_total`. */
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
}

interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly count: Count
}

/**
 * A counter for what happens with every command. Its numbers are plain, and the registry copies them when it
 * is read: the library's own counter takes 60 to 120 ns for what is an addition here.
 */
export class Counts {
  readonly #labelNames: readonly string[]
  readonly #series = new Map<string, Series>()

  constructor(registry: Registry, { name, help, labelNames = [] }: CountsOptions) {
    const all = this.#series
    this.#labelNames = labelNames
    registry.registerMetric(
      new Counter({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset()
          for (const { labels, count } of all.values()) this.inc(labels, count.value)
        },
      }),
    )
  }

  /** The number of the series with these values of its labels; a new one begins with 0. */
  of(...values: readonly string[]): Count {
    const key = values.join('\n')
    const known = this.#series.get(key)
    if (known !== undefined) return known.count
    const labels = Object.fromEntries(
      this.#labelNames.map((name, index) => [name, values[index] ?? '']),
    )
    const count = { value: 0 }
    this.#series.set(key, { labels, count })
    return count
  }
}
