/**
 * Holdfast and its peers side by side in one process each, with ratios and targets.
 *
 *     npm run bench -- [--quick] [--only NAME]... [--who TEXT]... [--before DIR] [--json FILE] [--keep]
 */
import { availableParallelism } from 'node:os'
import { compareBuilds } from './compare-builds.ts'
import { parseBenchOptions, USAGE, type BenchOptions } from './bench-options.ts'
import { keepResults, writeJson } from './report/kept-results.ts'
import { renderScenario } from './report/report.ts'
import { runScenario } from './run-scenario.ts'
import { loadScenario } from './scenario-list.ts'
import { selectContestants } from './select-contestants.ts'
import { type ScenarioSummary, type Summary, summarize } from './report/summary.ts'

async function run(options: BenchOptions): Promise<Summary> {
  const { dose, before } = options
  const scenarios: ScenarioSummary[] = []
  for (const name of options.scenarios) {
    process.stderr.write(`bench: ${name}\n`)
    const loaded = await loadScenario(name, dose)
    const taking = before === undefined ? loaded : compareBuilds(loaded)
    const scenario = selectContestants(taking, options.who)
    const summary = summarize(scenario, await runScenario(scenario, dose, before))
    process.stdout.write(`${renderScenario(summary)}\n\n`)
    scenarios.push(summary)
  }
  return {
    command: describeCommand(process.argv.slice(2)),
    node: process.versions.node,
    cores: availableParallelism(),
    rounds: dose.rounds,
    roundMs: dose.roundMs,
    scenarios,
  }
}

function describeCommand(args: readonly string[]): string {
  return ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ')
}

let options: BenchOptions | undefined
try {
  options = parseBenchOptions(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n\n${USAGE}`)
  process.exitCode = 2
}
if (options !== undefined) {
  const summary = await run(options)
  if (options.json !== undefined) writeJson(options.json, summary)
  for (const group of options.keep) keepResults(group, summary)
}
