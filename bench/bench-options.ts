import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { DOSES, type Dose } from './scenario.ts'
import { type GroupName, SCENARIO_GROUPS, SCENARIO_NAMES } from './scenario-list.ts'

const GROUP_NAMES = Object.keys(SCENARIO_GROUPS) as GroupName[]

export const USAGE: string = `npm run bench -- [--quick] [--only NAME]... [--who TEXT]... [--before DIR] [--json FILE] [--keep]

  --quick      to see that it works; the numbers mean little
  --only NAME  only this scenario or group of scenarios:
${GROUP_NAMES.map((group) => `                 ${group}: ${SCENARIO_GROUPS[group].join(', ')}`).join('\n')}
  --who TEXT   only contestants that have this in their names, such as redlock or Holdfast
  --before DIR only ours, in turns with an older build: a checkout of it, built
  --json FILE  also write everything to a file
  --keep       keep the results of whole groups: bench/results/, and the tables and plots in docs/
`

export interface BenchOptions {
  readonly dose: Dose
  readonly scenarios: readonly string[]
  /** Empty for all. */
  readonly who: readonly string[]
  /** The checkout of an older build that ours is compared with. */
  readonly before: string | undefined
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
      before: { type: 'string' },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const { quick, only, who, json, keep } = values
  const isPart = quick || who.length > 0 || values.before !== undefined || !only.every(isGroup)
  if (keep && isPart) {
    throw new Error('only a full run of a whole group is worth keeping')
  }
  return {
    dose: quick ? DOSES.quick : DOSES.full,
    scenarios: only.length > 0 ? only.flatMap(listScenarios) : SCENARIO_NAMES,
    who,
    before: values.before === undefined ? undefined : toCheckout(values.before),
    json,
    keep: keep ? GROUP_NAMES.filter((group) => only.length === 0 || only.includes(group)) : [],
  }
}

function toCheckout(path: string): string {
  const checkout = resolve(path)
  if (existsSync(join(checkout, 'dist', 'index.js'))) return checkout
  throw new Error(`--before ${path}: there is no build in it; run \`npm run build\` there`)
}

function listScenarios(name: string): readonly string[] {
  if (isGroup(name)) return SCENARIO_GROUPS[name]
  if (!SCENARIO_NAMES.includes(name)) throw new Error(`there is no scenario "${name}"`)
  return [name]
}

function isGroup(name: string): name is GroupName {
  return Object.hasOwn(SCENARIO_GROUPS, name)
}
