import { ERROR_CATALOGUE, type ErrorClass, type ErrorCode } from './error-catalogue.ts'

/**
 * Failures. What a lock ordinarily answers, "held by somebody else" included, is an outcome; these are
 * for what stands outside: bad arguments, lost connections, ended waits.
 */
export interface LockErrorOptions {
  /** Whether the request may have taken effect all the same. Default `no`. */
  readonly applied?: 'no' | 'maybe' | undefined
  /** Plain data about what was tried and found; no secrets. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly cause?: unknown
}

const BRAND = Symbol.for('holdfast.LockError')

/**
 * Every error that Holdfast throws. `instanceof` works across two copies of the package, because it
 * looks at the brand and the class name and not at the prototype.
 */
export class LockError extends Error {
  readonly code: ErrorCode
  readonly retryable: boolean
  /** After `maybe`, send the same request again with the same request id, or wait out its lease. */
  readonly applied: 'no' | 'maybe'
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, options: LockErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    const entry = ERROR_CATALOGUE[code]
    this.name = entry.class
    this.code = code
    this.retryable = entry.retryable
    this.applied = options.applied ?? 'no'
    this.details = Object.freeze({ ...options.details })
    Object.defineProperty(this, BRAND, { value: entry.class })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    const brand = brandOf(value)
    return brand !== undefined && (this === LockError || brand === this.name)
  }
}

function brandOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const brand = (value as Record<symbol, unknown>)[BRAND]
  return typeof brand === 'string' ? brand : undefined
}

/** The engine cannot work: closed, unreachable, or its disk failed. */
export class UnavailableError extends LockError {}
/** A wait reached its deadline. */
export class TimeoutError extends LockError {}
/** The caller's own signal ended a wait. */
export class AbortedError extends LockError {}
/** The call itself is wrong; nothing changed. */
export class InvalidArgumentError extends LockError {}
/** The caller has not the right to do this. */
export class ForbiddenError extends LockError {}
/** What the call names is not there. */
export class NotFoundError extends LockError {}
/** The state of the lock forbids what was asked. */
export class ConflictError extends LockError {}
/** A bound was reached. */
export class LimitError extends LockError {}
/** A defect or damage; not something to handle. */
export class InternalError extends LockError {}

const CLASSES: Readonly<Record<ErrorClass, typeof LockError>> = {
  UnavailableError,
  TimeoutError,
  AbortedError,
  InvalidArgumentError,
  ForbiddenError,
  NotFoundError,
  ConflictError,
  LimitError,
  InternalError,
}

/** Make the error of a code, in the class that the catalogue says. */
export function createError(
  code: ErrorCode,
  message: string,
  options?: LockErrorOptions,
): LockError {
  return new CLASSES[ERROR_CATALOGUE[code].class](code, message, options)
}

/** Whether this is an error of Holdfast, and, if a code is given, that one. */
export function isLockError(value: unknown, code?: ErrorCode): value is LockError {
  return value instanceof LockError && (code === undefined || value.code === code)
}
