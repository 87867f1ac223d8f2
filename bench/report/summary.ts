import type { Comparison, Figure, Sample, Scenario } from '../scenario.ts'
import type { Rounds } from '../run-scenario.ts'

/** Everything that the bench found out; what `--json` writes. */
export interface Summary {
  readonly command: string
  readonly node: string
  readonly cores: number
  readonly rounds: number
  readonly roundMs: number
  readonly scenarios: readonly ScenarioSummary[]
}

export interface ScenarioSummary {
  readonly name: string
  readonly title: string
  readonly figure: Figure
  readonly rows: readonly Row[]
  readonly verdicts: readonly Verdict[]
}

/** One contestant in one case: medians over the rounds, and the extremes of the main figure. */
export interface Row {
  readonly caseName: string
  readonly contestant: string
  readonly value: number
  readonly valueMin: number
  readonly valueMax: number
  /** CPU time per operation, in microseconds; null where there was no operation. */
  readonly cpuUs: number | null
  readonly counts: Readonly<Record<string, number>>
}

/** A comparison, worked out. */
export interface Verdict extends Comparison {
  /** The ratio, or the figure itself; null where the other one did nothing. */
  readonly value: number | null
  /** How many times less CPU time an operation takes than the other one's. */
  readonly cpuRatio: number | null
  /** Null where no target is set. */
  readonly isMet: boolean | null
}

export function summarize(scenario: Scenario, rounds: Rounds): ScenarioSummary {
  const { name, title, figure, cases, contestants, comparisons } = scenario
  const samplesOf = (caseName: string, contestant: string): readonly Sample[] =>
    rounds.get(caseName)?.get(contestant) ?? []
  const rows = cases.flatMap((caseName) =>
    Object.keys(contestants).flatMap((contestant) => {
      const samples = samplesOf(caseName, contestant)
      return samples.length === 0 ? [] : [{ caseName, contestant, ...toRow(figure, samples) }]
    }),
  )
  const verdicts = comparisons.map((comparison) => {
    const { caseName, contestant, against } = comparison
    const ours = samplesOf(caseName, contestant)
    const theirs = against === undefined ? undefined : samplesOf(caseName, against)
    return judge(comparison, { figure, ours, theirs })
  })
  return { name, title, figure, rows, verdicts }
}

function toRow(figure: Figure, samples: readonly Sample[]): Omit<Row, 'caseName' | 'contestant'> {
  const values = samples.map((sample) => valueOf(figure, sample))
  const names = Object.keys(samples[0]?.counts ?? {})
  const counts = names.map((name) => [name, median(samples.map(({ counts: c }) => c[name] ?? 0))])
  return {
    value: median(values),
    valueMin: Math.min(...values),
    valueMax: Math.max(...values),
    cpuUs: finite(median(samples.map(cpuUsOf))),
    counts: Object.fromEntries(counts),
  }
}

interface Measured {
  readonly figure: Figure
  readonly ours: readonly Sample[]
  /** Absent where the figure is judged by itself. */
  readonly theirs: readonly Sample[] | undefined
}

/** Ratios are taken round by round: neighbours in time had the same machine. */
function judge(comparison: Comparison, { figure, ours, theirs }: Measured): Verdict {
  const { count, atLeast, atMost } = comparison
  const read = (sample: Sample): number =>
    count === undefined ? valueOf(figure, sample) : (sample.counts[count] ?? Number.NaN)
  const ratios = ours.map((sample, round) => {
    const other = theirs?.[round]
    return other === undefined ? read(sample) : read(sample) / read(other)
  })
  const cpuRatios = ours.flatMap((sample, round) => {
    const other = theirs?.[round]
    return other === undefined ? [] : [cpuUsOf(other) / cpuUsOf(sample)]
  })
  const value = median(ratios)
  const hasTarget = atLeast !== undefined || atMost !== undefined
  const isMet = value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity)
  return {
    ...comparison,
    value: finite(value),
    cpuRatio: finite(median(cpuRatios)),
    isMet: hasTarget ? isMet : null,
  }
}

function valueOf(figure: Figure, { operations, wallMs, counts }: Sample): number {
  if (figure.kind === 'rate') return (operations / wallMs) * 1000
  return (counts['bytes'] ?? Number.NaN) / operations
}

function cpuUsOf({ operations, cpuMs }: Sample): number {
  return (cpuMs * 1000) / operations
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  const low = sorted[Math.floor(middle)] ?? Number.NaN
  const high = sorted[Math.ceil(middle)] ?? Number.NaN
  return low === high ? low : (low + high) / 2
}
