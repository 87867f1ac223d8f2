/**
 * Who coordinates an operation after it succeeded.
 *
 * - `server`: the success is remembered, others skip, references are kept.
 * - `client`: every waiter of that type is told and leaves the queue; each node looks for itself.
 * - `mutex`: the next in the queue is granted.
 */
export type Coordination = 'server' | 'client' | 'mutex'

/** What an operator may choose about the law. Servers that share an engine should agree on all of it. */
export interface LawSettings {
  /** Lane names, first served first. Empty means one lane, and lane names are ignored. */
  readonly lanes: readonly string[]
  /** The default for operations that name no coordination themselves. */
  readonly coordination: Coordination
  /** Off: an operation on a busy resource is refused instead of queued. */
  readonly multiNode: boolean
  /** On: an update is refused while any node references the resource. */
  readonly updateRequiresNoRef: boolean
  /** How long a success is remembered. */
  readonly retentionMs: number
  /** The lease of an operation that asked for none. */
  readonly operationTtlMs: number
  /** The lease of a lock that asked for none. */
  readonly lockTtlMs: number
  /** How long a waiter that only asks now and then keeps its place after it last asked. */
  readonly waiterPatienceMs: number
  /** How long a waiter that only asks now and then has to take its grant. */
  readonly claimWindowMs: number
  /**
   * How long a waiter with an open request keeps its place without a renewal by whoever holds that
   * request open. Infinite where the request and the queue live and die in one process.
   */
  readonly openPatienceMs: number
  /** Waiters that one key takes. */
  readonly waitersPerKeyMax: number
  /** Owners that hold one key for reading at once. */
  readonly holdersPerKeyMax: number
  /** Nodes that one resource is kept for. */
  readonly referencesPerResourceMax: number
}
