/** Bounds of the client's side of sessions, each with its unit and its reason. */

/** From the first byte to the welcome: a server that takes longer counts as gone. */
export const HANDSHAKE_MS_MAX = 5_000

/** How long a call, or the first connection, is tried without any contact with the server. */
export const RETRY_FOR_MS_DEFAULT = 10_000

/** Heartbeats in a row without anything received: the connection counts as half open. */
export const UNANSWERED_HEARTBEATS_MAX = 3

/** Bytes that the socket has not taken: above this, calls wait here for their turn. */
export const UNSENT_BYTES_MAX: number = 1024 * 1024

/**
 * Messages in a frame. The server is at work on the first of many while the client writes the rest: with all
 * of them in one frame each side would wait for the other, and one of two cores would be idle.
 */
export const FRAME_MESSAGES_MAX = 16

/** How long a good-bye may take. */
export const GOODBYE_MS_MAX = 1_000

/** How long heartbeats go on while the main thread hangs: such a process must not hold for ever. */
export const HUNG_MS_MAX = 60_000

/**
 * Heartbeats in the shortest lease that they renew. While none is missed for longer than that, no lease can
 * have run out unnoticed.
 */
export const HEARTBEATS_PER_LEASE_MIN = 3
