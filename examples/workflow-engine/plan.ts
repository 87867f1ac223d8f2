import { toIterationKey, toNodeKey } from 'holdfast/workflow'

const WORKFLOW = '42'
const TURNS = 6

/** The stages of the workflow, one after the other; what is in one stage may run side by side. */
export const STAGES: readonly (readonly string[])[] = [
  [toNodeKey(WORKFLOW, 'fetch-calendars')],
  Array.from({ length: TURNS }, (_, turn) => toIterationKey(WORKFLOW, 'delete-loop', turn)),
  [toNodeKey(WORKFLOW, 'report')],
]

/** In the middle of this one, an engine is killed. */
export const FATAL: string = toIterationKey(WORKFLOW, 'delete-loop', 2)

/** What an engine writes to and reads from the tables of the workflow, and what it is answered. */
export type EngineMessage =
  | { readonly kind: 'begin'; readonly key: string; readonly token: number }
  | { readonly kind: 'finish'; readonly key: string; readonly token: number }

export interface TableAnswer {
  /** Everything that is done, whoever did it. */
  readonly done: readonly string[]
}
