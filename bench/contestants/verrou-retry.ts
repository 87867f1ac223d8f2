import type { RetryConfig } from '@verrou/core/types'

/** Its default is to give up after half a minute, which the waiters of the bench must not. */
export function createVerrouRetry(retryMs: number | undefined): RetryConfig {
  return { timeout: Infinity, ...(retryMs === undefined ? {} : { delay: retryMs }) }
}
