import { readFileSync, writeFileSync } from 'node:fs'
import { renderSummary } from './report.ts'
import type { Summary } from './summary.ts'

const RESULTS = new URL('./results/in-process.json', import.meta.url)
const PAGE = new URL('../docs/performance.md', import.meta.url)
const TABLES = /(?<=<!-- bench: in-process -->\n)[^]*(?=<!-- end -->)/

/** The summary of the last run that was kept, and the tables that the docs show of it. */
export function readKept(): { readonly summary: Summary; readonly tables: string | undefined } {
  const summary = JSON.parse(readFileSync(RESULTS, 'utf8')) as Summary
  const tables = TABLES.exec(readFileSync(PAGE, 'utf8'))?.[0]
  return { summary, tables: tables?.trim() }
}

export function keepResults(summary: Summary): void {
  writeJson(RESULTS, summary)
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(
    PAGE,
    page.replace(TABLES, () => `\n${renderSummary(summary)}\n\n`),
  )
}

export function writeJson(file: string | URL, summary: Summary): void {
  writeFileSync(file, `${JSON.stringify(summary, null, 2)}\n`)
}
