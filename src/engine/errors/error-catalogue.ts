/**
 * Every code that Holdfast throws, in one place: what it means, what class it is, whether trying again
 * can help. `docs/errors.md` lists the same codes; a test compares the two.
 */
export type ErrorClass =
  | 'UnavailableError'
  | 'TimeoutError'
  | 'AbortedError'
  | 'InvalidArgumentError'
  | 'ForbiddenError'
  | 'NotFoundError'
  | 'ConflictError'
  | 'LimitError'
  | 'InternalError'

export interface ErrorEntry {
  readonly class: ErrorClass
  /** Whether the same call may succeed later without anything else being changed. */
  readonly retryable: boolean
  readonly meaning: string
}

export type ErrorCode =
  | 'LOCK_INVALID_ARGUMENT'
  | 'LOCK_UNKNOWN_ENGINE'
  | 'LOCK_FORBIDDEN'
  | 'LOCK_WAIT_TIMEOUT'
  | 'LOCK_ABORTED'
  | 'LOCK_LOST'
  | 'LOCK_NOT_HOLDER'
  | 'LOCK_STALE_TOKEN'
  | 'LOCK_UPGRADE_CONFLICT'
  | 'LOCK_DEADLOCK'
  | 'LOCK_IN_USE'
  | 'LOCK_HELD'
  | 'LOCK_REQUEST_ENDED'
  | 'LOCK_NO_SESSION'
  | 'LOCK_LIMIT'
  | 'LOCK_ENGINE_CLOSED'
  | 'LOCK_ENGINE_UNAVAILABLE'
  | 'LOCK_SERVER_UNTRUSTED'
  | 'LOCK_STORAGE_FAILED'
  | 'LOCK_STORAGE_DAMAGED'
  | 'LOCK_STORAGE_NEWER'
  | 'LOCK_DIRECTORY_OWNED'
  | 'LOCK_INTERNAL'

export const ERROR_CATALOGUE: Readonly<Record<ErrorCode, ErrorEntry>> = Object.freeze({
  LOCK_INVALID_ARGUMENT: {
    class: 'InvalidArgumentError',
    retryable: false,
    meaning: 'An argument is missing, malformed or out of range. Nothing changed.',
  },
  LOCK_UNKNOWN_ENGINE: {
    class: 'InvalidArgumentError',
    retryable: false,
    meaning:
      'The URL given to connect names no engine that this version has, or a package that it needs is not installed.',
  },
  LOCK_FORBIDDEN: {
    class: 'ForbiddenError',
    retryable: false,
    meaning:
      'The server does not know the caller, or its token does not give the right to do this.',
  },
  LOCK_WAIT_TIMEOUT: {
    class: 'TimeoutError',
    retryable: true,
    meaning: 'The wait ended before the lock was granted. The place in the queue was given up.',
  },
  LOCK_ABORTED: {
    class: 'AbortedError',
    retryable: true,
    meaning: 'The AbortSignal of the call ended the wait. The place in the queue was given up.',
  },
  LOCK_LOST: {
    class: 'ConflictError',
    retryable: false,
    meaning:
      'The hold ended before it was released: its lease passed, it was forced, its session ended, or it could not be renewed in time.',
  },
  LOCK_NOT_HOLDER: {
    class: 'ConflictError',
    retryable: false,
    meaning: 'The caller does not hold what it wants to change.',
  },
  LOCK_STALE_TOKEN: {
    class: 'ConflictError',
    retryable: false,
    meaning:
      'The caller holds the lock under another token than it says: mostly that of an earlier grant.',
  },
  LOCK_UPGRADE_CONFLICT: {
    class: 'ConflictError',
    retryable: false,
    meaning:
      'Another reader already waits to become the writer. Release the read hold, or the two wait for ever.',
  },
  LOCK_DEADLOCK: {
    class: 'ConflictError',
    retryable: false,
    meaning: 'Waiting would close a cycle of parties that wait for each other.',
  },
  LOCK_IN_USE: {
    class: 'ConflictError',
    retryable: true,
    meaning: 'Nodes still reference the resource.',
  },
  LOCK_HELD: {
    class: 'ConflictError',
    retryable: true,
    meaning: 'Somebody else has it, and the call does not wait.',
  },
  LOCK_REQUEST_ENDED: {
    class: 'ConflictError',
    retryable: false,
    meaning: 'The request was granted once and has ended since; a retry came too late.',
  },
  LOCK_NO_SESSION: {
    class: 'NotFoundError',
    retryable: false,
    meaning: 'There is no such session, or it has ended with everything that it held.',
  },
  LOCK_LIMIT: {
    class: 'LimitError',
    retryable: true,
    meaning: 'A bound was reached: waiters of a key, or steps of a hold.',
  },
  LOCK_ENGINE_CLOSED: {
    class: 'UnavailableError',
    retryable: false,
    meaning: 'The engine was closed, or is closing.',
  },
  LOCK_ENGINE_UNAVAILABLE: {
    class: 'UnavailableError',
    retryable: true,
    meaning: 'The engine cannot be reached or cannot work at the moment.',
  },
  LOCK_SERVER_UNTRUSTED: {
    class: 'UnavailableError',
    retryable: false,
    meaning:
      'The certificate of the server cannot be trusted; the message says why and what to do.',
  },
  LOCK_STORAGE_FAILED: {
    class: 'UnavailableError',
    retryable: false,
    meaning:
      'The disk or the database did not take a write, or cannot be used as it is: an operator has to see to it. What was acknowledged is safe. On a full disk the embedded engine refuses changes until there is room; after any other failure it has stopped. A database is asked again by the next call.',
  },
  LOCK_STORAGE_DAMAGED: {
    class: 'InternalError',
    retryable: false,
    meaning:
      'The journal is damaged where it had been acknowledged, or has lost its end; it says where, and how to go on without what was lost.',
  },
  LOCK_STORAGE_NEWER: {
    class: 'UnavailableError',
    retryable: false,
    meaning:
      'The directory or the tables were written by a newer version of Holdfast: use that one. Nothing was changed.',
  },
  LOCK_DIRECTORY_OWNED: {
    class: 'UnavailableError',
    retryable: true,
    meaning: 'Another process owns the data directory.',
  },
  LOCK_INTERNAL: {
    class: 'InternalError',
    retryable: false,
    meaning: 'A state that cannot be, was. Please report it.',
  },
})

/** A code that somebody else has sent, if this version knows it. */
export function knownCode(code: unknown): ErrorCode | undefined {
  const isKnown = typeof code === 'string' && Object.hasOwn(ERROR_CATALOGUE, code)
  return isKnown ? (code as ErrorCode) : undefined
}
