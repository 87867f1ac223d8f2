/** Bounds of the server's side of sessions, each with its unit and its reason. */

/** A connection that has not said hello by then is closed. */
export const HELLO_MS_MAX = 5_000

/** Heartbeats in a grace: one may be late and two lost without harm. */
export const HEARTBEATS_PER_GRACE = 5

/** However long the grace: a connection that is half open should be noticed sooner than that. */
export const HEARTBEAT_MS_MAX = 10_000

/** Messages in a frame: a client begins with the first of many while the rest is being written. */
export const FRAME_MESSAGES_MAX = 128

/**
 * Bytes that a socket has not taken: above this nothing more is read from its client, and its watches are told
 * `reset` instead of more events.
 */
export const UNSENT_BYTES_MAX: number = 1024 * 1024

/** Reads that wait for room or for their turn: above this nothing more is read from their client. */
export const READS_WAITING_MAX = 256

/**
 * How long a server that stops waits for the answers to what it has accepted: less than it waits for its
 * connections to close.
 */
export const WIND_UP_MS_MAX = 700

/** How long the closing handshake of a WebSocket may take before the connection is cut. */
export const CLOSE_MS_MAX = 1_000
