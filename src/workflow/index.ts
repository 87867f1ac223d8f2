/** Leases on the keys of a workflow engine, in the database that it has anyway. */
export { openWorkflowLeases } from './open-workflow-leases.ts'
export type { LockType, WorkflowLeases, WorkflowLock } from './workflow-leases.ts'
export {
  toIterationKey,
  toNodeKey,
  toResourceKey,
  toWorkflowKey,
  tryParseWorkflowKey,
  type WorkflowKey,
} from './workflow-keys.ts'
