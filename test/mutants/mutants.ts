import { ENGINE_MUTANTS } from './engine-mutants.ts'
import { HISTORY_MUTANTS } from './history-mutants.ts'
import { HOLD_MUTANTS } from './hold-mutants.ts'
import type { Mutant } from './mutant.ts'
import { OPERATION_MUTANTS } from './operation-mutants.ts'
import { QUEUE_MUTANTS } from './queue-mutants.ts'
import { REACH_MUTANTS } from './reach-mutants.ts'
import { REQUEST_MUTANTS } from './request-mutants.ts'
import { STORE_MUTANTS } from './store-mutants.ts'

/** Every wrong engine. `docs/testing.md` lists them all. */
export const MUTANTS: readonly Mutant[] = [
  ...HOLD_MUTANTS,
  ...QUEUE_MUTANTS,
  ...REQUEST_MUTANTS,
  ...REACH_MUTANTS,
  ...OPERATION_MUTANTS,
  ...ENGINE_MUTANTS,
  ...HISTORY_MUTANTS,
  ...STORE_MUTANTS,
]
