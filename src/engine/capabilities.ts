/**
 * What differs between engines, so that code and tests branch on a promise and never on an engine's
 * name. A new field arrives with the value that every existing engine has.
 */
export interface Capabilities {
  /** Shown to people. Not to be branched on. */
  readonly name: string
  /** An acknowledged change survives `kill -9` of the process that holds the engine. */
  readonly durable: boolean
  /** Several engines on the same store act as one. */
  readonly shared: boolean
  /** Waits that close a cycle of parties are refused with `deadlock`; otherwise they run into their deadline. */
  readonly seesDeadlocks: boolean
  /** Leases are kept to this many milliseconds. */
  readonly leaseGranularityMs: number
  /** The shortest lease the engine can keep. */
  readonly ttlMsMin: number
  /**
   * The longest time, without load, from a release to when the process of the next waiter looks whether it
   * was granted: 0 for a push. If that is not the process that released, it then takes the grant, which is a
   * transaction, before it answers.
   */
  readonly wakeDelayMsMax: number
  /** Waiters that one key takes. */
  readonly waitersPerKeyMax: number
  /** A restart keeps the queue; otherwise waiters come back by asking again. */
  readonly queueSurvivesRestart: boolean
  /** Ends of holds are kept and can be read; otherwise a `history` query finds none. */
  readonly history: boolean
}
