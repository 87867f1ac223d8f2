import type { Dose, Scenario } from './scenario.ts'

type ScenarioModule = { readonly createScenario: (dose: Dose) => Scenario }

type ScenarioModules = Readonly<Record<string, () => Promise<ScenarioModule>>>

/** Loaded one by one: a process that measures one contestant has no other scenario in it. */
const IN_PROCESS: ScenarioModules = {
  uncontended: () => import('./scenarios/uncontended.ts'),
  'hot-key': () => import('./scenarios/hot-key.ts'),
  memory: () => import('./scenarios/memory.ts'),
  resident: () => import('./scenarios/resident.ts'),
  waiters: () => import('./scenarios/waiters.ts'),
  durable: () => import('./scenarios/durable.ts'),
}

const NETWORK: ScenarioModules = {
  'network-uncontended': () => import('./scenarios/network-uncontended.ts'),
  'network-hot-key': () => import('./scenarios/network-hot-key.ts'),
}

const SQL: ScenarioModules = {
  'sql-uncontended': () => import('./scenarios/sql-uncontended.ts'),
  'sql-hot-key': () => import('./scenarios/sql-hot-key.ts'),
}

const MODULES: ScenarioModules = { ...IN_PROCESS, ...NETWORK, ...SQL }

export const SCENARIO_NAMES: readonly string[] = Object.keys(MODULES)

/** Scenarios that are kept and shown together. */
export type GroupName = 'in-process' | 'network' | 'sql'

export const SCENARIO_GROUPS: Readonly<Record<GroupName, readonly string[]>> = {
  'in-process': Object.keys(IN_PROCESS),
  network: Object.keys(NETWORK),
  sql: Object.keys(SQL),
}

export async function loadScenario(name: string, dose: Dose): Promise<Scenario> {
  const load = MODULES[name]
  if (load === undefined) throw new Error(`there is no scenario "${name}"`)
  return (await load()).createScenario(dose)
}
