import type { SimulationReport } from './run-simulation.ts'

export interface FailureTextOptions {
  /** The state of the code, where that is known. */
  readonly commit?: string | undefined
  /** How much of the trace to show; 30 lines by default. */
  readonly lines?: number | undefined
}

const LINES_DEFAULT = 30

/** What went wrong in a run, for people: what, where, and the end of what led to it. */
export function toFailureText(report: SimulationReport, options: FailureTextOptions = {}): string {
  const { plan, problem, trace, steps, virtualMs, hash } = report
  const { lines = LINES_DEFAULT } = options
  const key = /[ "]([krmd]\d+)"?:/.exec(problem?.message ?? '')?.[1]
  const about = key === undefined ? [] : trace.about([`${key} `, `"${key}"`, 'engine#'], lines)
  const clients = plan.clients.map(({ name, kind }) => `${name} ${kind}`)
  return [
    `seed ${plan.seed} violates ${problem?.property}`,
    `  ${problem?.message}`,
    `  commit  ${options.commit ?? 'unknown'}`,
    `  faults  ${[...plan.faults].join(', ') || 'none'}`,
    `  clients ${clients.join(', ')}`,
    `  after   ${steps} steps, ${virtualMs.toFixed(0)} ms, trace ${hash}`,
    ...section(`the end of what concerns ${key}`, about),
    ...section('the end of the trace', trace.tail(about.length === 0 ? lines : lines / 3)),
  ].join('\n')
}

function section(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return []
  return [`  ${title}:`, ...lines.map((line) => `    ${line}`)]
}
