import { createError, isLockError } from '../engine/errors/errors.ts'
import { type Answer, isPassing, isPassingAnswer, toAnswerError } from './answer-errors.ts'
import { type Call, HttpCaller, toAborted } from './http-caller.ts'
import type { LockClientSettings } from './lock-client-options.ts'
import { pause } from './pause.ts'

/**
 * Sends requests, and sends them again after a network error or a time-out. That is safe because every
 * request that changes something carries an id, under which it takes effect once.
 */
export class RetryingCaller {
  readonly http: HttpCaller
  readonly #settings: LockClientSettings

  constructor(settings: LockClientSettings) {
    this.#settings = settings
    this.http = new HttpCaller(settings)
  }

  /** Resolves with the server's answer, a refusal included. Rejects when there was none often enough. */
  async call(call: Call): Promise<Answer> {
    const { clock, maxRetries, retryMs } = this.#settings
    let mayBeApplied = false
    for (let retries = 0; ; retries += 1) {
      try {
        const answer = await this.http.call(call)
        if (!isPassingAnswer(answer)) return answer
        throw toAnswerError(answer)
      } catch (error) {
        mayBeApplied ||= isLockError(error) && error.applied === 'maybe'
        if (!isPassing(error) || retries >= maxRetries) throw withDoubt(error, mayBeApplied)
      }
      await pause(clock, retryMs, [call.signal])
      if (call.signal?.aborted) throw toAborted(call.signal)
    }
  }

  close(): void {
    this.http.close()
  }
}

/** The last attempt may say that nothing was sent, and an earlier one may have arrived. */
function withDoubt(error: unknown, mayBeApplied: boolean): unknown {
  if (!mayBeApplied || !isLockError(error) || error.applied === 'maybe') return error
  const { code, message, details } = error
  return createError(code, message, { applied: 'maybe', details, cause: error })
}
