import type { Session } from '../../../law/model/view.ts'
import type { ShadowHold, ShadowKey } from './shadow-key.ts'

/** An engine's one timer may be this late: its clock is kept to whole milliseconds. */
const TOLERANCE_MS = 1

export interface LateOptions {
  readonly nowMs: number
  readonly sessionOf: (id: string) => Session | undefined
}

/** Something that should be over by now. */
export function findLate(
  keys: Iterable<ShadowKey>,
  { nowMs, sessionOf }: LateOptions,
): string | undefined {
  const limitMs = nowMs - TOLERANCE_MS
  for (const key of keys) {
    for (const hold of key.holds.values()) {
      const { owner, steps, isRecovered } = hold
      const leaseAtMs = leaseAtMsOf(hold, sessionOf)
      if (leaseAtMs < limitMs) {
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

/** A heartbeat renews a hold of its session without a decision. */
function leaseAtMsOf(hold: ShadowHold, sessionOf: LateOptions['sessionOf']): number {
  const session = hold.session === undefined ? undefined : sessionOf(hold.session)
  if (session?.keepsLeases !== true) return hold.leaseAtMs
  return Math.max(hold.leaseAtMs, session.heardAtMs + hold.ttlMs)
}
