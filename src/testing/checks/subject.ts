import type { History, HistoryEntry, HistoryMark } from '../history.ts'

/**
 * What an entry or mark is about. Locks and operations are two namespaces, so the lock `a` is
 * another subject than the operation on the resource `a`.
 */
export function subjectOf(record: HistoryEntry | HistoryMark): string {
  return `${spaceOf(record)} ${JSON.stringify(record.key ?? null)}`
}

export function spaceOf(record: HistoryEntry | HistoryMark): 'lock' | 'operation' {
  if (record.space !== undefined) return record.space
  if (record.kind === 'mark') return 'lock'
  return record.op === 'begin' || record.op === 'finish' || record.op === 'unref'
    ? 'operation'
    : 'lock'
}

/** On whose behalf a call was made. */
export function ownerOf(entry: HistoryEntry): string {
  if (entry.owner !== undefined) return entry.owner
  if (entry.type !== undefined && entry.node !== undefined) return `${entry.type}:${entry.node}`
  return entry.proc
}

/** The operations alone, by the time of their call. */
export function entriesOf(history: History): HistoryEntry[] {
  return history.filter((record) => record.kind === 'op').sort((a, b) => a.call - b.call)
}

/** The marks of one name, or all of them, by time. */
export function marksOf(history: History, name?: string): HistoryMark[] {
  return history
    .filter((record) => record.kind === 'mark')
    .filter((mark) => name === undefined || mark.name === name)
    .sort((a, b) => a.at - b.at)
}
