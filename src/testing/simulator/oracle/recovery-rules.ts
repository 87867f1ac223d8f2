import type { Problem } from '../problems.ts'
import type { RecoveredState } from './recovered-state.ts'
import type { ShadowKey } from './shadow-key.ts'

/** One step of a hold that came back. */
export interface GrantedStep {
  readonly subject: string
  readonly owner: string
  readonly requestId: string
}

/**
 * What must hold for the keys that came back after a restart: no lease is shorter than it was asked for, and
 * no owner holds what it was told that it does not. The next decision on a key shows that no token is forgotten.
 */
export function checkRecovered(
  keys: readonly ShadowKey[],
  recovered: RecoveredState,
  isDenied: (step: GrantedStep) => boolean,
): Problem[] {
  return keys.flatMap((key) => [...checkLeases(key, recovered), ...checkSteps(key, isDenied)])
}

function checkLeases({ subject, holds }: ShadowKey, { leases }: RecoveredState): Problem[] {
  return [...holds.values()].flatMap(({ owner, ttlMs }) => {
    const leaseMs = leases.get(`${subject} ${owner}`) ?? Infinity
    if (leaseMs >= ttlMs) return []
    const message = `${subject}: a restart shortened the lease from ${ttlMs} to ${leaseMs}`
    return [{ property: 'S17 lease', message }]
  })
}

function checkSteps(
  { subject, holds }: ShadowKey,
  isDenied: (step: GrantedStep) => boolean,
): Problem[] {
  return [...holds.values()].flatMap(({ owner, steps }) =>
    steps
      .filter(({ requestId }) => isDenied({ subject, owner, requestId }))
      .map(({ requestId }) => {
        const what = `${owner} was told that ${requestId} was not applied, and holds it`
        return { property: 'S12 no ghost', message: `${subject}: ${what}` }
      }),
  )
}

/** Leases count from now on, on a clock that began anew. */
export function reckonAnew(
  keys: Iterable<ShadowKey>,
  { leases }: RecoveredState,
  nowMs: number,
): void {
  for (const key of keys) {
    for (const hold of key.holds.values()) {
      const leaseMs = leases.get(`${key.subject} ${hold.owner}`) ?? hold.ttlMs
      // What its session adds to it is not part of it.
      const ownMs = hold.session === undefined ? leaseMs : hold.ttlMs
      const leaseAtMs = nowMs + ownMs
      key.apply({ kind: 'hold-set', hold: { ...hold, leaseAtMs, isRecovered: true } })
    }
  }
}
