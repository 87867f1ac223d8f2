/** Bounds of the server's side of sessions, each with its unit and its reason. */

/** A connection that has not said hello by then is not one of ours. */
export const HELLO_MS_MAX = 5_000

/** How many signs of life fit into a grace: one may be late and two lost without harm. */
export const HEARTBEATS_PER_GRACE = 5

/** However long the grace: a connection that is half open should be noticed sooner than that. */
export const HEARTBEAT_MS_MAX = 10_000

/** Requests of one session that have not been answered; waiting ones count. */
export const OPEN_REQUESTS_MAX = 65_536

/** A frame that has become as long as this is sent before the turn is over. */
export const FRAME_BYTES: number = 256 * 1024

/** Bytes that a socket has not taken: above this nothing more is read from its client. */
export const UNSENT_BYTES_MAX: number = 1024 * 1024

/** Bytes that a client has not confirmed: above this it is told `reset` instead of more events. */
export const EVENT_BYTES_MAX: number = 1024 * 1024

/** Bytes that a client has not confirmed: above this it never will, and its session is given up. */
export const UNCONFIRMED_BYTES_MAX: number = 128 * 1024 * 1024

/** Signs of life that the engine has not confirmed: above this the next one is not passed on. */
export const TOUCHES_MAX = 4

/**
 * How long a server that stops waits for the answers to what it has accepted: less than it waits for its
 * connections to close, so that the good-bye can be said.
 */
export const WIND_UP_MS_MAX = 700

/** How long a connection that was asked to close may take before it is cut. */
export const CLOSE_MS_MAX = 1_000
