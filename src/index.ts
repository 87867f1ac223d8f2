/** Distributed locks: what a program that uses them needs. */
export type { Capabilities } from './engine/capabilities.ts'
export type { LockEngine, WatchEvent } from './engine/engine.ts'
export {
  ERROR_CATALOGUE,
  type ErrorClass,
  type ErrorCode,
  type ErrorEntry,
} from './engine/errors/error-catalogue.ts'
export {
  AbortedError,
  ConflictError,
  ForbiddenError,
  InternalError,
  InvalidArgumentError,
  isLockError,
  LimitError,
  LockError,
  type LockErrorOptions,
  NotFoundError,
  TimeoutError,
  UnavailableError,
} from './engine/errors/errors.ts'
export type {
  HistoryEnd,
  HistoryEntry,
  HolderReply,
  InspectReply,
  ListReply,
  RememberedReply,
  WaiterReply,
} from './engine/queries.ts'
export type { Coordination } from './law/model/settings.ts'
export type { Mode, Namespace } from './law/model/view.ts'
export { connect } from './locks/connect.ts'
export { createLocks } from './locks/create-locks.ts'
export type { Duration } from './locks/options/durations.ts'
export type { LockHandle } from './locks/lease/lock-handle.ts'
export type {
  AcquireOptions,
  BeginNowOptions,
  BeginOptions,
  ConnectOptions,
  CreateLocksOptions,
  EmbeddedOptions,
  ForceReleaseOptions,
  HistoryOptions,
  InspectOptions,
  LawOptions,
  ListOptions,
  LocksOptions,
  OnceOptions,
  RemoteOptions,
  TryAcquireOptions,
  UnrefOptions,
  WaitOptions,
  WatchOptions,
} from './locks/options/lock-options.ts'
export type { LockSet } from './locks/lease/lock-set.ts'
export type { Locks, WithLock } from './locks/locks.ts'
export type { LossReason } from './locks/lease/lost-error.ts'
export type {
  BeginNowOutcome,
  BeginOutcome,
  OnceContext,
  OnceOutcome,
  OperationHandle,
  OperationResult,
} from './locks/operations/operation-handle.ts'
export type { TlsOptions } from './locks/options/tls-options.ts'
export type { LockWatch } from './locks/watch-stream.ts'
export type { Clock, Timer } from './time/clock.ts'
