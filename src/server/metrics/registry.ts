/** One value of a label each, in the order in which the metric names its labels. */
export type LabelValues = readonly string[]

interface MetricOptions {
  /** By the Prometheus conventions: unit at the end, `_total` for what only grows. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** Something that can be written in the Prometheus text format. */
interface Metric {
  write(): string
}

/** More series of one metric than this are a label that a client can choose; the rest is not counted. */
const SERIES_MAX = 1_000

/** The metrics of one server, in the Prometheus text format. */
export class Registry {
  readonly #metrics: Metric[] = []

  counter(options: MetricOptions): Counter {
    return this.#add(new Counter(options, 'counter'))
  }

  gauge(options: MetricOptions): Gauge {
    return this.#add(new Gauge(options, 'gauge'))
  }

  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Histogram {
    return this.#add(new Histogram(options))
  }

  write(): string {
    return this.#metrics.map((metric) => metric.write()).join('')
  }

  #add<M extends Metric>(metric: M): M {
    this.#metrics.push(metric)
    return metric
  }
}

/** One number of a metric, for those who count so often that looking it up would be felt. */
export interface Series {
  readonly labels: LabelValues
  value: number
}

class Values implements Metric {
  readonly #series = new Map<string, Series>()
  readonly #options: MetricOptions
  readonly #type: string

  constructor(options: MetricOptions, type: string) {
    this.#options = options
    this.#type = type
    if (options.labels === undefined) this.series([]).value = 0
  }

  protected series(labels: LabelValues): Series {
    const key = labels.length === 1 ? (labels[0] as string) : labels.join('\n')
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { labels, value: 0 }
      if (this.#series.size < SERIES_MAX) this.#series.set(key, series)
    }
    return series
  }

  write(): string {
    const { name, labels: names = [] } = this.#options
    let text = head(this.#options, this.#type)
    for (const { labels, value } of this.#series.values()) {
      text += `${name}${writeLabels(names, labels)} ${value}\n`
    }
    return text
  }
}

/** A number that only grows while the server runs. */
export class Counter extends Values {
  add(amount = 1, ...labels: LabelValues): void {
    this.series(labels).value += amount
  }

  /** The number that these labels have, which begins with 0. */
  of(...labels: LabelValues): Series {
    return this.series(labels)
  }

  /** For a count that somebody else keeps. */
  reach(total: number, ...labels: LabelValues): void {
    this.series(labels).value = total
  }
}

/** A number that goes up and down. */
export class Gauge extends Values {
  set(value: number, ...labels: LabelValues): void {
    this.series(labels).value = value
  }
}

/** How values are spread, by upper bounds. */
export class Histogram implements Metric {
  readonly #options: MetricOptions & { readonly buckets: readonly number[] }
  readonly #counts: number[]
  #sum = 0
  #count = 0

  constructor(options: MetricOptions & { readonly buckets: readonly number[] }) {
    this.#options = options
    this.#counts = options.buckets.map(() => 0)
  }

  observe(value: number): void {
    this.#sum += value
    this.#count += 1
    const index = this.#options.buckets.findIndex((bound) => value <= bound)
    if (index !== -1) this.#counts[index] = (this.#counts[index] ?? 0) + 1
  }

  write(): string {
    const { name, buckets } = this.#options
    let text = head(this.#options, 'histogram')
    let below = 0
    buckets.forEach((bound, index) => {
      below += this.#counts[index] ?? 0
      text += `${name}_bucket{le="${bound}"} ${below}\n`
    })
    text += `${name}_bucket{le="+Inf"} ${this.#count}\n`
    return `${text}${name}_sum ${this.#sum}\n${name}_count ${this.#count}\n`
  }
}

function head({ name, help }: MetricOptions, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function writeLabels(names: readonly string[], values: LabelValues): string {
  if (names.length === 0) return ''
  const pairs = names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`)
  return `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
