import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hasPlot, type PlottedGroup, renderRatePlot } from './rate-plot.ts'
import { renderSummary } from './report.ts'
import { type GroupName, SCENARIO_GROUPS } from '../scenario-list.ts'
import type { Summary } from './summary.ts'

const PAGE = new URL('../../docs/performance.md', import.meta.url)
const PLOTS = new URL('../../docs/plots/', import.meta.url)

/** What the docs show of the last run that was kept, and the summary that it was made from. */
export interface KeptResults {
  readonly summary: Summary
  readonly tables: string | undefined
}

export function readKept(group: GroupName): KeptResults {
  const summary = JSON.parse(readFileSync(toResultsFile(group), 'utf8')) as Summary
  const tables = toTables(group).exec(readFileSync(PAGE, 'utf8'))?.[0]
  return { summary, tables: tables?.trim() }
}

export function readKeptPlot(group: PlottedGroup): string {
  return readFileSync(toPlotFile(group), 'utf8')
}

export function keepResults(group: GroupName, summary: Summary): void {
  const names = SCENARIO_GROUPS[group]
  const part = {
    ...summary,
    scenarios: summary.scenarios.filter(({ name }) => names.includes(name)),
  }
  writeJson(toResultsFile(group), part)
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(
    PAGE,
    page.replace(toTables(group), () => `\n${renderSummary(part)}\n\n`),
  )
  if (!hasPlot(group)) return
  mkdirSync(PLOTS, { recursive: true })
  writeFileSync(toPlotFile(group), renderRatePlot(group, part))
}

export function writeJson(file: string | URL, summary: Summary): void {
  writeFileSync(file, `${JSON.stringify(summary, null, 2)}\n`)
}

function toResultsFile(group: GroupName): URL {
  return new URL(`../results/${group}.json`, import.meta.url)
}

function toPlotFile(group: PlottedGroup): URL {
  return new URL(`${group}.svg`, PLOTS)
}

function toTables(group: GroupName): RegExp {
  return new RegExp(`(?<=<!-- bench: ${group} -->\\n)[^]*?(?=<!-- end -->)`)
}
