import type { ShadowKey } from './shadow-key.ts'

/** An engine's one timer may be this late: its clock is kept to whole milliseconds. */
const TOLERANCE_MS = 1

/**
 * Something that should be over by now. A hold in a session is left out: hearing from the client moves
 * its lease without a decision.
 */
export function findLate(keys: Iterable<ShadowKey>, nowMs: number): string | undefined {
  const limitMs = nowMs - TOLERANCE_MS
  for (const key of keys) {
    for (const { owner, leaseAtMs, session, steps, isRecovered } of key.holds.values()) {
      if (session === undefined && leaseAtMs < limitMs) {
        return `${key.subject}: the lease of ${owner} passed at ${leaseAtMs}, now is ${nowMs}`
      }
      const unclaimed = steps.find(({ claimByMs }) => (claimByMs ?? Infinity) < limitMs)
      if (unclaimed !== undefined && !isRecovered) {
        return `${key.subject}: ${owner} did not take its grant by ${unclaimed.claimByMs}, now is ${nowMs}`
      }
    }
    for (const { owner, deadlineAtMs, leaseAtMs } of key.waiters) {
      const endMs = Math.min(deadlineAtMs, leaseAtMs)
      if (endMs < limitMs) return `${key.subject}: ${owner} waits past ${endMs}, now is ${nowMs}`
    }
  }
  return undefined
}
