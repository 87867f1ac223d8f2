import type { LockEngine } from '../../../engine/engine.ts'
import type { InspectReply } from '../../../engine/queries.ts'
import { describeHold, type ShadowKey, subjectOf } from './shadow-key.ts'

/** What an engine shows of itself after it was opened, in the words of the witness. */
export interface RecoveredState {
  /** As `ShadowKey.describe`, by subject. */
  readonly texts: ReadonlyMap<string, string>
  /** How long each hold has, by subject and owner. */
  readonly leases: ReadonlyMap<string, number>
}

/** Reads every key that holds anything, and every key that is known to have held something. */
export async function readRecovered(
  engine: LockEngine,
  known: readonly ShadowKey[],
): Promise<RecoveredState> {
  const texts = new Map<string, string>()
  const leases = new Map<string, number>()
  const { locks } = await engine.read({ kind: 'list', limit: 1_000 })
  const inspected = await Promise.all(
    known.map(({ namespace, key }) => engine.read({ kind: 'inspect', namespace, key })),
  )
  for (const reply of [...locks, ...inspected]) {
    const subject = subjectOf(reply.namespace, reply.key)
    texts.set(subject, describeReply(reply))
    for (const { owner, leaseMs } of reply.holders) leases.set(`${subject} ${owner}`, leaseMs)
  }
  return { texts, leases }
}

/** As `ShadowKey.describe`. */
export function describeReply({ holders, references, remembered }: InspectReply): string {
  const holds = holders.map(describeHold).sort()
  const successes = remembered.map(({ type, version, value, skips }) => {
    return `${type} ${JSON.stringify([version ?? null, value ?? null, skips])}`
  })
  return JSON.stringify([holds, [...references].sort(), successes.sort()])
}
