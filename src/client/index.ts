/** The client of the lock server for programs that were written for the lock servers before it. */
export {
  type CallOptions,
  LockClient,
  type UnlockRequest,
} from './lock-client.ts'
export type { LockClientOptions } from './lock-client-options.ts'
export type { LockResult, UnlockResult } from './lock-result.ts'
export type { LockRequest } from './operation-request.ts'
export type { NodeStatus, ReferencesAnswer, UnrefAnswer } from '../wire/json/operation-body.ts'
