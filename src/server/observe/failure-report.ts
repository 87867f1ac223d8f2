import type { ErrorCode } from '../../engine/errors/error-catalogue.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import { toErrorAnswer } from '../http/error-answer.ts'
import type { ServerContext } from '../server-context.ts'
import { LogThrottle } from './log-throttle.ts'

/** A server that stops says so to every waiting client, and a wait ends with its connection. */
const ORDINARY: ReadonlySet<ErrorCode> = new Set(['LOCK_ENGINE_CLOSED', 'LOCK_ABORTED'])

/**
 * Tells the log and the metrics of failures that are ours, however the request came in. The client is told
 * less.
 */
export class FailureReport {
  readonly #context: Pick<ServerContext, 'log' | 'metrics' | 'socketClock'>
  readonly #quiet: LogThrottle

  constructor(context: Pick<ServerContext, 'log' | 'metrics' | 'socketClock'>) {
    this.#context = context
    this.#quiet = new LogThrottle(() => context.socketClock.nowMs())
  }

  /** Any error may be given here; those that the client caused are ignored. */
  report(error: unknown): void {
    const { log, metrics } = this.#context
    if (toErrorAnswer(error).status < 500) return
    if (isLockError(error) && ORDINARY.has(error.code)) return
    metrics.failures.inc()
    const code = isLockError(error) ? error.code : 'internal'
    if (!this.#quiet.isOver(code)) return
    const { message, stack, cause } = error instanceof Error ? error : new Error(String(error))
    const reason = cause instanceof Error ? cause.message : undefined
    log.error('a request failed', { code, error: message, cause: reason, stack })
  }
}
