import { formatCount, formatRate, formatRatio } from './format-figures.ts'
import type { Figure } from '../scenario.ts'
import type { Row, ScenarioSummary, Summary, Verdict } from './summary.ts'

const SERVER_CPU = 'serverCpuUs'
/** What is not a number, or was not asked for. */
const NONE = '–'
/** Counts that have a column of their own where they occur; the others are only in the JSON. */
const COUNT_COLUMNS: Readonly<Record<string, string>> = {
  overtakes: 'overtakes',
  starved: 'never granted',
  busiestPercent: 'busiest, %',
  drainMs: 'ms for all',
  p50Us: 'p50 µs',
  p99Us: 'p99 µs',
  [SERVER_CPU]: 'server CPU µs',
}

/** The tables of a run, in Markdown that is also legible in a terminal. */
export function renderSummary(summary: Summary): string {
  const { command, node, cores, rounds, roundMs } = summary
  const how = [
    `Made by \`${command}\` with Node ${node} on ${cores} cores:`,
    `medians of ${rounds} rounds of ${formatCount(roundMs)} ms;`,
    'in brackets the slowest and the fastest round. A ratio is the median of the ratios of each round.',
    'CPU time is that of all threads of the process.',
  ].join(' ')
  return [how, ...summary.scenarios.map(renderScenario)].join('\n\n')
}

export function renderScenario(scenario: ScenarioSummary): string {
  const { name, title, figure, rows, verdicts } = scenario
  const parts = [`### ${name}`, title, renderRows(figure, rows), renderVerdicts(figure, verdicts)]
  return parts.join('\n\n')
}

function renderRows(figure: Figure, rows: readonly Row[]): string {
  const counts = Object.keys(COUNT_COLUMNS).filter((count) =>
    rows.some((row) => count in row.counts),
  )
  const { operation } = figure
  const head = [
    'case',
    'who',
    figure.kind === 'rate' ? `${operation}s/s` : `bytes per ${operation}`,
    `CPU µs per ${operation}`,
    ...counts.map((count) => COUNT_COLUMNS[count] ?? count),
  ]
  const body = rows.map((row) => [
    row.caseName,
    row.contestant,
    renderValue(figure, row),
    row.cpuUs === null ? NONE : formatRatio(row.cpuUs),
    ...counts.map((count) => renderCount(count, row.counts[count])),
  ])
  return renderTable(head, body)
}

function renderCount(name: string, count: number | undefined): string {
  if (count === undefined) return NONE
  return name === SERVER_CPU ? formatRatio(count) : formatCount(count)
}

function renderValue(figure: Figure, { value, valueMin, valueMax }: Row): string {
  if (figure.kind === 'size') return formatCount(value)
  return `${formatRate(value)} (${formatRate(valueMin)} – ${formatRate(valueMax)})`
}

function renderVerdicts(figure: Figure, verdicts: readonly Verdict[]): string {
  const head = ['case', 'compared', 'found', 'by CPU time', 'target', '']
  const body = verdicts.map((verdict) => [
    verdict.caseName,
    describeComparison(verdict),
    formatFound(figure, verdict, verdict.value),
    verdict.cpuRatio === null ? NONE : `${formatRatio(verdict.cpuRatio)} ×`,
    formatTarget(figure, verdict),
    verdict.isMet === null ? '' : verdict.isMet ? 'met' : 'not met',
  ])
  return renderTable(head, body)
}

function describeComparison({ contestant, against, count }: Verdict): string {
  const ratio = against === undefined ? contestant : `${contestant} : ${against}`
  return count === undefined ? ratio : `${ratio}, ${COUNT_COLUMNS[count] ?? count}`
}

function formatFound(figure: Figure, verdict: Verdict, value: number | null): string {
  if (value === null) return NONE
  if (verdict.against !== undefined) return `${formatRatio(value)} ×`
  if (verdict.count !== undefined) return formatCount(value)
  return figure.kind === 'rate' ? `${formatRate(value)}/s` : `${formatCount(value)} bytes`
}

function formatTarget(figure: Figure, verdict: Verdict): string {
  const { atLeast, atMost } = verdict
  if (atLeast !== undefined) return `at least ${formatFound(figure, verdict, atLeast)}`
  if (atMost !== undefined) return `at most ${formatFound(figure, verdict, atMost)}`
  return NONE
}

function renderTable(head: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...body.map((cells) => (cells[column] ?? '').length)),
  )
  const renderLine = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = widths.map((width) => '-'.repeat(width))
  return [head, rule, ...body].map(renderLine).join('\n')
}
