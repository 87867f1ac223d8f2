/** Bounds and constants of the session protocol, each with its unit and its reason. */

/** In the hello and in the welcome; another number is another protocol. */
export const SESSION_VERSION = 3

/** One frame from a client: many small messages. A client begins another one after `FRAME_BYTES`. */
export const CLIENT_FRAME_BYTES_MAX: number = 256 * 1024

/** One frame from a server: a list of a thousand locks with a hundred waiters each. */
export const SERVER_FRAME_BYTES_MAX: number = 64 * 1024 * 1024

/** Requests of one session that have not been answered, waiting ones included; ids are below this. */
export const OPEN_REQUESTS_MAX = 65_536

/** A frame that has become as long as this is sent before the turn of the event loop is over. */
export const FRAME_BYTES: number = 128 * 1024

/** Why a server closes a connection, as WebSocket close codes of the range for applications. */
export const CLOSE_CODES = {
  /** The bytes make no sense, or come in an order that makes none. */
  protocol: 4400,
  /** The token that the connection was opened with is not known any more, or has other rights. */
  revoked: 4401,
  /** A heartbeat connection named a session that this server does not have. */
  unknownSession: 4404,
  /** The client speaks another version. */
  version: 4406,
  /** Nothing was received from the session for longer than its grace. */
  silent: 4408,
  /** A newer connection of the same session took the place of this one. */
  superseded: 4409,
  /** The server stops, or its engine does not answer; connect again, here or to another server. */
  stopping: 4503,
} as const
