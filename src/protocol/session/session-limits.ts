/** Bounds and constants of the session protocol, each with its unit and its reason. */

/** Said in the hello and in the welcome; another number is another protocol. */
export const SESSION_VERSION = 1

/** Plain data is shallow: the deepest is a list of locks with their queues. */
export const PACK_DEPTH_MAX = 16

/** One string: the longest is the value that an operation leaves, and errors are longer than names. */
export const PACK_STRING_BYTES_MAX: number = 64 * 1024

/** One frame from a client: many small messages, or one large query. */
export const CLIENT_FRAME_BYTES_MAX: number = 1024 * 1024

/** One frame from a server: a list of a thousand locks with a hundred waiters each. */
export const SERVER_FRAME_BYTES_MAX: number = 64 * 1024 * 1024

/**
 * Messages in a frame of a client, where more are to be said in one turn: the server is at work on the
 * first of them while the client goes on with the rest. With all in one frame, each would wait for the
 * other, and one of two cores would be idle.
 */
export const CLIENT_FRAME_MESSAGES = 16

/** The same of a server. What one sync has made durable is answered in few frames. */
export const SERVER_FRAME_MESSAGES = 128

/** Why a server closes a connection, as WebSocket close codes of the range that is free for this. */
export const CLOSE_CODES = {
  /** The bytes made no sense, or came in an order that makes none. */
  protocol: 4400,
  /** The client speaks another version. */
  version: 4406,
  /** Nothing was received from the session for longer than its grace. */
  silent: 4408,
  /** A newer connection of the same session took the place of this one. */
  superseded: 4409,
  /** A connection that only vouches named a session that is not there. */
  unknownSession: 4404,
  /** The client does not read what it asked for. */
  overflow: 4413,
  /** The server stops; come back to it or to another one. */
  stopping: 4503,
} as const
