/** What can be done to the bytes that travel in one direction through a `FaultProxy`. */
export type Fault =
  | { readonly kind: 'pass' }
  /** Every piece arrives later, in order: by `delayMs` and up to `jitterMs` more. */
  | { readonly kind: 'delay'; readonly delayMs: number; readonly jitterMs?: number }
  /** `afterBytes` more bytes of each connection arrive, then it is closed on both sides. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The connection is reset on both sides by the next byte, which does not arrive. */
  | { readonly kind: 'reset' }
  /**
   * Bytes are accepted and acknowledged and go nowhere, and neither does the end of the stream: the
   * connection is half open. Since a stream cannot go on after a gap, a connection that lost
   * something this way never carries anything in that direction again.
   */
  | { readonly kind: 'black-hole' }

/**
 * The answer is lost although the request was processed: the request passes, the answer that it
 * causes is dropped, and the connection is reset on both sides once `bytes` of it (by default one)
 * have been dropped. It happens to as many answers as `answers` says (by default one), to each
 * connection once; what is sent without a request since the fault was set passes, and so does
 * everything afterwards.
 */
export interface SwallowFault {
  readonly kind: 'swallow'
  readonly answers?: number
  readonly bytes?: number
}

/** A direction that is left out passes. */
export interface FaultSettings {
  readonly toServer?: Fault
  readonly toClient?: Fault | SwallowFault
}

/** What happened to one direction since the proxy was started. */
export interface DirectionCounters {
  bytesForwarded: number
  bytesDropped: number
  piecesDelayed: number
}

/** Proof that a fault happened, since the proxy was started. */
export interface FaultCounters {
  connectionsAccepted: number
  /** Client connections for which the target could not be reached; the client sees a reset. */
  connectFailures: number
  connectionsCut: number
  connectionsReset: number
  answersSwallowed: number
  readonly toServer: DirectionCounters
  readonly toClient: DirectionCounters
}
