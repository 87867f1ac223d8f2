import { parseArgs } from 'node:util'
import { DOSES, type Dose } from './scenario.ts'
import { SCENARIO_NAMES } from './scenario-list.ts'

export const USAGE: string = `npm run bench -- [--quick] [--only NAME]... [--json FILE] [--keep]

  --quick      a few seconds, to see that it works; the numbers mean little
  --only NAME  only this scenario: ${SCENARIO_NAMES.join(', ')}
  --json FILE  also write everything to a file
  --keep       keep the results of a full run: bench/results/ and the table in docs/performance.md
`

export interface BenchOptions {
  readonly dose: Dose
  readonly scenarios: readonly string[]
  readonly json: string | undefined
  readonly keep: boolean
}

export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const unknown = values.only.find((name) => !SCENARIO_NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`there is no scenario "${unknown}"`)
  if (values.keep && (values.quick || values.only.length > 0)) {
    throw new Error('only a full run of everything is worth keeping')
  }
  return {
    dose: values.quick ? DOSES.quick : DOSES.full,
    scenarios: values.only.length > 0 ? values.only : SCENARIO_NAMES,
    json: values.json,
    keep: values.keep,
  }
}
