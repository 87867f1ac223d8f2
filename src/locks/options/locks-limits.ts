/** Every bound and constant of the library above the engines, with its unit and its reason. */

/**
 * The lease of a lock or operation that asks for none: how long an outage may last that costs nothing, and
 * how long a dead holder is in the way.
 */
export const LEASE_MS_DEFAULT = 10_000

/**
 * How much earlier than the engine a holder stops trusting its lease: 1 % for clocks that do not run
 * at the same rate, and at least a few milliseconds for the answer that is under way.
 */
export const LEASE_MARGIN_RATIO = 0.01
export const LEASE_MARGIN_MS_MIN = 5

/** A lease is renewed after this part of it, which leaves time for two more attempts. */
export const RENEW_AFTER_RATIO: number = 1 / 3

/** A failed renewal is tried again after this part of what is left, so that the end gets the most tries. */
export const RENEW_RETRY_RATIO: number = 1 / 4
export const RENEW_RETRY_MS_MIN = 20

/**
 * The local deadline counts from when the request was sent. If the answer took more than this part of
 * the lease, the hold is confirmed by a renewal before it is handed out.
 */
export const UNCONFIRMED_RATIO_MAX = 0.1

/** What a lost answer is worth to a call that does not wait: how long it asks what became of it. */
export const RETRY_MS_MIN = 2_000

/** Events that a slow reader of a watch may be behind before it is told `reset`. */
export const WATCH_EVENTS_MAX = 1_000

/** A name in front of every owner; room is left for the random part and the counter. */
export const OWNER_NAME_BYTES_MAX = 200

/** A hold that is older than so many heartbeats asks for a thread that sends them while the main thread is busy. */
export const THREAD_AFTER_HEARTBEATS = 2
