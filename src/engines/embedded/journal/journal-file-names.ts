/**
 * The files of a journal are numbered. `log-N` holds batches; `snapshot-N` holds the state in which
 * `log-N` begins, so the state now is `snapshot-N` followed by `log-N`, `log-N+1` and so on. The
 * very first log has no snapshot. A file is written under a temporary name and renamed when it is
 * durable, so whatever has a name of these two kinds was complete when it got it.
 */
export type JournalFileKind = 'log' | 'snapshot'

const NAME = /^(log|snapshot)-(\d{10,15})$/
const TEMPORARY_SUFFIX = '.tmp'

export function journalFileName(kind: JournalFileKind, sequence: number): string {
  return `${kind}-${String(sequence).padStart(10, '0')}`
}

export function temporaryName(name: string): string {
  return name + TEMPORARY_SUFFIX
}

export interface JournalFileNames {
  /** Sequence numbers in ascending order. */
  readonly logs: readonly number[]
  readonly snapshots: readonly number[]
  /** Names of files that were still being written when their writer stopped. */
  readonly unfinished: readonly string[]
}

/** Sorts out the names of a directory. Names of other things are left out. */
export function parseJournalFileNames(names: readonly string[]): JournalFileNames {
  const sequences = { log: [] as number[], snapshot: [] as number[] }
  const unfinished: string[] = []
  for (const name of names) {
    const isTemporary = name.endsWith(TEMPORARY_SUFFIX)
    const match = NAME.exec(isTemporary ? name.slice(0, -TEMPORARY_SUFFIX.length) : name)
    if (match === null) continue
    if (isTemporary) unfinished.push(name)
    else sequences[match[1] as JournalFileKind].push(Number(match[2]))
  }
  const ascending = (a: number, b: number): number => a - b
  return {
    logs: sequences.log.sort(ascending),
    snapshots: sequences.snapshot.sort(ascending),
    unfinished,
  }
}
