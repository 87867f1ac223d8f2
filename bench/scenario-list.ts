import type { Dose, Scenario } from './scenario.ts'

type ScenarioModule = { readonly createScenario: (dose: Dose) => Scenario }

/** Loaded one by one: a process that measures one contestant has no other scenario in it. */
const MODULES: Readonly<Record<string, () => Promise<ScenarioModule>>> = {
  uncontended: () => import('./scenarios/uncontended.ts'),
  'hot-key': () => import('./scenarios/hot-key.ts'),
  memory: () => import('./scenarios/memory.ts'),
  resident: () => import('./scenarios/resident.ts'),
  waiters: () => import('./scenarios/waiters.ts'),
  durable: () => import('./scenarios/durable.ts'),
}

export const SCENARIO_NAMES: readonly string[] = Object.keys(MODULES)

export async function loadScenario(name: string, dose: Dose): Promise<Scenario> {
  const load = MODULES[name]
  if (load === undefined) throw new Error(`there is no scenario "${name}"`)
  return (await load()).createScenario(dose)
}
