import type { Disk } from './disk.ts'
import { journalFileName, parseJournalFileNames } from './journal-file-names.ts'

/**
 * Removes the files that nothing needs once the state begins with number `first`: older logs and
 * snapshots, and files that were never finished. The names that make them outdated must be durable.
 * The removals themselves need not be: a file that comes back is removed the next time.
 */
export async function removeOutdated(disk: Disk, first: number): Promise<void> {
  const { logs, snapshots, unfinished } = parseJournalFileNames(await disk.list())
  const outdated = [
    ...unfinished,
    ...logs.filter((sequence) => sequence < first).map((n) => journalFileName('log', n)),
    ...snapshots.filter((sequence) => sequence < first).map((n) => journalFileName('snapshot', n)),
  ]
  for (const name of outdated) await disk.remove(name)
}
