import { parseArgs } from 'node:util'
import { DOSES, type Dose } from './scenario.ts'
import { type GroupName, SCENARIO_GROUPS, SCENARIO_NAMES } from './scenario-list.ts'

const GROUP_NAMES = Object.keys(SCENARIO_GROUPS) as GroupName[]

export const USAGE: string = `npm run bench -- [--quick] [--only NAME]... [--who TEXT]... [--json FILE] [--keep]

  --quick      to see that it works; the numbers mean little
  --only NAME  only this scenario or group of scenarios:
${GROUP_NAMES.map((group) => `                 ${group}: ${SCENARIO_GROUPS[group].join(', ')}`).join('\n')}
  --who TEXT   only contestants that have this in their names, such as redlock or Holdfast
  --json FILE  also write everything to a file
  --keep       keep the results of whole groups: bench/results/, and the tables and plots in docs/
`

export interface BenchOptions {
  readonly dose: Dose
  readonly scenarios: readonly string[]
  /** Empty for all. */
  readonly who: readonly string[]
  readonly json: string | undefined
  /** The groups of which the results are kept. */
  readonly keep: readonly GroupName[]
}

export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      who: { type: 'string', multiple: true, default: [] },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const { quick, only, who, json, keep } = values
  if (keep && (quick || who.length > 0 || !only.every(isGroup))) {
    throw new Error('only a full run of a whole group is worth keeping')
  }
  return {
    dose: quick ? DOSES.quick : DOSES.full,
    scenarios: only.length > 0 ? only.flatMap(listScenarios) : SCENARIO_NAMES,
    who,
    json,
    keep: keep ? GROUP_NAMES.filter((group) => only.length === 0 || only.includes(group)) : [],
  }
}

function listScenarios(name: string): readonly string[] {
  if (isGroup(name)) return SCENARIO_GROUPS[name]
  if (!SCENARIO_NAMES.includes(name)) throw new Error(`there is no scenario "${name}"`)
  return [name]
}

function isGroup(name: string): name is GroupName {
  return Object.hasOwn(SCENARIO_GROUPS, name)
}
