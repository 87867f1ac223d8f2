import { randomInt } from 'node:crypto'

/** How long a call, or the first connection, is tried without any contact with the server. */
export const RETRY_FOR_MS_DEFAULT = 10_000

const FIRST_MS = 10

/**
 * The pause after so many failures in a row: doubling up to a bound, and jittered, so that those who lost a
 * server together do not come back together.
 */
export function backOffMs(failures: number, maxMs: number): number {
  const longestMs = Math.min(FIRST_MS * 2 ** (failures - 1), maxMs)
  return randomInt(Math.ceil(longestMs / 2), longestMs + 1)
}
