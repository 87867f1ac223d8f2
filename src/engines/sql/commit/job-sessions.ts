import type { KeyJob } from './key-run.ts'
import type { SnapshotCache } from '../snapshot/snapshot-cache.ts'

/** Sessions that the commands name, and those of their keys as far as these are known from before. */
export function sessionsOf(jobs: readonly KeyJob[], cache: SnapshotCache): Set<string> {
  const sessions = new Set<string>()
  for (const { name, command } of jobs) {
    for (const id of cache.peek(name)?.sessions() ?? []) sessions.add(id)
    const isNaming =
      command.kind === 'acquire' || command.kind === 'begin' || command.kind === 'leave'
    if (isNaming && command.session !== undefined) sessions.add(command.session)
  }
  return sessions
}
