import type { ErrorCode } from '../../engine/error-catalogue.ts'
import { isLockError } from '../../engine/errors.ts'
import type { ServerContext } from '../server-context.ts'

/** A failing disk fails every request; one line a second and code says as much as a thousand. */
const QUIET_MS = 1_000

/** A server that stops says so to everyone who waits, and a wait ends with its connection. */
const ORDINARY: ReadonlySet<ErrorCode> = new Set(['LOCK_ENGINE_CLOSED', 'LOCK_ABORTED'])

/** Tells the log and the metrics of failures that are ours. The client is told less. */
export class FailureReport {
  readonly #context: Pick<ServerContext, 'log' | 'metrics' | 'socketClock'>
  readonly #toldAtMs = new Map<string, number>()

  constructor(context: Pick<ServerContext, 'log' | 'metrics' | 'socketClock'>) {
    this.#context = context
  }

  report(error: unknown): void {
    const { log, metrics, socketClock } = this.#context
    if (isLockError(error) && ORDINARY.has(error.code)) return
    metrics.failed()
    const code = isLockError(error) ? error.code : 'internal'
    const nowMs = socketClock.nowMs()
    if (nowMs - (this.#toldAtMs.get(code) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    this.#toldAtMs.set(code, nowMs)
    const { message, stack, cause } = error instanceof Error ? error : new Error(String(error))
    const reason = cause instanceof Error ? cause.message : undefined
    log.error('a request failed', { code, error: message, cause: reason, stack })
  }
}
