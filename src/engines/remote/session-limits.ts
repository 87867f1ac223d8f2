/** Bounds of the client's side of sessions, each with its unit and its reason. */

/** From the first byte to the welcome: a server that takes longer is taken for gone. */
export const HANDSHAKE_MS_MAX = 5_000

/** The longest pause between attempts to connect. */
export const RECONNECT_MS_MAX = 1_000

/** Signs of life in a row without anything received: the connection is taken for half open. */
export const UNANSWERED_BEATS_MAX = 3

/** Bytes that the socket has not taken: above this, calls wait for their turn here. */
export const UNSENT_BYTES_MAX: number = 1024 * 1024

/** A frame that has become as long as this is sent before the turn is over: servers bound their length. */
export const FRAME_BYTES: number = 128 * 1024

/** The longest command has a tenth of this; only a query that nobody means is longer. */
export const MESSAGE_BYTES_MAX: number = 256 * 1024

/** Received frames that were not confirmed yet: above this they are, even if nothing else is to be said. */
export const UNCONFIRMED_FRAMES_MAX = 64
export const UNCONFIRMED_BYTES_MAX: number = 256 * 1024

/** How long a good-bye may take. */
export const GOODBYE_MS_MAX = 1_000

/**
 * How long a worker thread vouches for a main thread that gives no sign of life itself: a process that
 * hangs must not hold for ever.
 */
export const PULSE_MS_MAX = 60_000
