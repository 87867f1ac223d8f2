import type { Clock } from '../time/clock.ts'

/**
 * Resolves after a while, or when one of the signals aborts. It keeps the process
 * alive: a caller waits for what comes after it.
 */
export function pause(
  clock: Clock,
  ms: number,
  signals: readonly (AbortSignal | undefined)[] = [],
): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel()
      for (const signal of signals) signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimer(ms, end)
    timer.ref()
    for (const signal of signals) {
      if (signal?.aborted === true) return end()
      signal?.addEventListener('abort', end, { once: true })
    }
  })
}
