import type { Disk } from './disk.ts'
import { FIRST_VERSION_WITH_MARK } from './file-header.ts'
import { toDamaged } from './journal-errors.ts'
import {
  type JournalFileNames,
  journalFileName,
  parseJournalFileNames,
} from './journal-file-names.ts'
import { LogFile } from './log-file.ts'
import { LogWalk, type LogPlace } from './log-walk.ts'
import { type Mark, MARK_FILE_NAME, readMark, writeMark } from './mark/mark-file.ts'
import type { JournalOwner } from './owner/journal-owner.ts'
import { removeOutdated } from './remove-outdated.ts'
import { readSnapshot } from './snapshot-file.ts'

/**
 * How the files are read back, and how a write that was cut short is told from damage.
 *
 * Batches are numbered without a gap through all logs, each is one frame, and a batch is written
 * only after the one before was synced. Therefore:
 *
 * - A valid frame `n` proves that every batch below `n` was durable before `n` was begun.
 * - At most one batch was in the making when the process or the power went away: the one after the
 *   last that is proven. Only this one may be torn, in any way: missing, cut off, or with holes
 *   where sectors did not make it while later ones did. It was never acknowledged.
 *
 * So the walk reads frames in order until the next one in line is not there. If any valid frame
 * lies behind that place, in this log or a later one, something that was durable has been lost
 * since, and recovery refuses. If there is none, what lies there is the torn batch, and it is cut
 * off. Records inside a torn batch cannot be mistaken for a frame: a frame is recognised by a
 * checksum that is seeded with the file's random salt.
 *
 * The mark (`mark/mark-file.ts`) says where the log ended at an earlier moment, or exactly when the journal was
 * closed. A log that ends before it has lost its end, and is refused. A log of which more was expected, but
 * that ends behind an open mark, is taken for the log of a process that was killed: its numbers go on above
 * the ceiling of the mark.
 *
 * What cannot be told: if the very last batch was synced and acknowledged after the last mark, and its bytes
 * were damaged later while nothing was written behind it, it looks exactly like a torn one and is cut.
 * Closing the journal writes an empty batch and an exact mark, so this concerns journals that were not closed.
 *
 * The last batch is also the only one that might be visible but not durable: the process may have
 * been killed between write and sync, or the sync may have failed, after which the system can hold
 * the bytes in memory and believe them to be on disk. The batch is about to be shown to the owner
 * as recovered, so it is written once more and synced first. The same holds for names: the
 * directory is synced before any file is believed in or removed.
 */
export interface Recovered {
  /** The last log, open for appending. */
  readonly log: LogFile
  /** The mark that was written for what was found. */
  readonly mark: Mark
  /** Number for the next batch. */
  readonly nextNumber: number
  /** Bytes of frames in logs before the last one. */
  readonly olderBytes: number
  /** Size of the snapshot in bytes, 0 when there is none. */
  readonly snapshotBytes: number
  /** Whether the last frame is the empty one that `close` writes, or there is none at all. */
  readonly endsClosed: boolean
  readonly summary: RecoverySummary
}

export interface RecoverySummary {
  readonly chunks: number
  readonly records: number
  /** Where an unfinished batch was cut off, or null. */
  readonly cut: LogPlace | null
}

export interface RecoveryOptions {
  readonly owner: JournalOwner
  readonly createSalt: () => number
  readonly preallocateBytes: number
  readonly numbersPerMark: number
}

/** Reads the directory, and leaves it ready for appending. */
export async function recover(disk: Disk, options: RecoveryOptions): Promise<Recovered> {
  const reading = await readJournal(disk, options.owner)
  const { walk, first, snapshotBytes, chunks } = reading
  try {
    checkEnd(reading, options.owner.highest)
    await walk.repair()
    await removeOutdated(disk, first)
    const { log, mark } = await continueLog(disk, reading, options)
    return {
      log,
      mark,
      nextNumber: walk.expected,
      olderBytes: walk.framesBytes - log.framesBytes,
      snapshotBytes,
      endsClosed: walk.endsClosed,
      summary: { chunks, records: walk.records, cut: walk.cut },
    }
  } catch (error) {
    await walk.closeAll()
    throw error
  }
}

/** What was read, before anything is changed. */
interface Reading {
  readonly walk: LogWalk
  readonly mark: Mark | null
  /** Sequence number with which the state begins. */
  readonly first: number
  readonly snapshotBytes: number
  readonly chunks: number
  /** The newest format among the files. */
  readonly newestVersion: number
}

/** Hands the owner the state up to this batch, of a journal that is open, and changes nothing. */
export async function readUpTo(disk: Disk, owner: JournalOwner, lastBatch: number): Promise<void> {
  const { walk } = await readJournal(disk, owner, lastBatch)
  await walk.closeAll()
}

async function readJournal(
  disk: Disk,
  owner: JournalOwner,
  lastBatch = Infinity,
): Promise<Reading> {
  await disk.syncDirectory()
  const everyName = await disk.list()
  const mark = await readMark(disk, everyName)
  const names = parseJournalFileNames(everyName)
  const snapshot = names.snapshots.at(-1)
  const sequences = wantedLogs(names, snapshot, mark?.log ?? 0)
  let chunks = 0
  const restore = (chunk: Uint8Array): void => {
    chunks++
    owner.restore(chunk)
  }
  const base = snapshot === undefined ? null : await readSnapshot(disk, snapshot, restore)
  const firstBatch = base?.firstBatch ?? 1
  const walk = new LogWalk(disk, { firstBatch, lastBatch }, (record) => owner.replay(record))
  try {
    for (const sequence of sequences) await walk.readLog(sequence)
  } catch (error) {
    await walk.closeAll()
    throw error
  }
  return {
    walk,
    mark,
    first: sequences[0] ?? 1,
    snapshotBytes: base?.sizeBytes ?? 0,
    chunks,
    newestVersion: Math.max(base?.version ?? 0, walk.newestVersion),
  }
}

/** Compares where the log ends with the mark. */
function checkEnd({ walk, mark, newestVersion }: Reading, highest: number): void {
  if (mark === null) {
    if (newestVersion < FIRST_VERSION_WITH_MARK) return
    throw toDamaged(MARK_FILE_NAME, 0, 'the file is missing, so where the log ended is not known')
  }
  const foundBatch = walk.expected - 1
  if (foundBatch < mark.batch) {
    const place = walk.end ?? { file: journalFileName('log', mark.log), offset: 0 }
    const found = `the log ends there with batch ${foundBatch}, and batch ${mark.batch} was acknowledged`
    throw toDamaged(place.file, place.offset, found)
  }
  const isBehind = mark.isClosed && foundBatch > mark.batch
  if (isBehind || highest > mark.ceiling) {
    const found = `it is older than the log, which goes on to batch ${foundBatch}`
    throw toDamaged(MARK_FILE_NAME, 0, found)
  }
}

/**
 * The log to append to, and a mark that names it. The mark comes first where a log has to be made: a log of
 * this version without a mark is damage.
 */
async function continueLog(
  disk: Disk,
  { walk, mark: before }: Reading,
  { owner, createSalt, preallocateBytes, numbersPerMark }: RecoveryOptions,
): Promise<Pick<Recovered, 'log' | 'mark'>> {
  const floor = before === null ? 0 : numbersEnd(before)
  owner.raise(floor)
  const last = await walk.openLast(preallocateBytes)
  const mark: Mark = {
    isClosed: false,
    log: last?.sequence ?? 0,
    batch: walk.expected - 1,
    floor,
    ceiling: owner.highest + numbersPerMark,
  }
  await writeMark(disk, mark)
  if (last !== null && walk.newestVersion >= FIRST_VERSION_WITH_MARK) return { log: last, mark }
  await last?.close()
  const sequence = mark.log + 1
  const log = await LogFile.create(disk, { sequence, salt: createSalt(), preallocateBytes })
  try {
    const named = { ...mark, log: sequence }
    await writeMark(disk, named)
    return { log, mark: named }
  } catch (error) {
    await log.close()
    throw error
  }
}

/** Above which number the owner goes on: after a crash, above all that may have been given out. */
function numbersEnd(mark: Mark): number {
  return mark.isClosed ? mark.floor : mark.ceiling
}

/**
 * The logs to read, all of which must be there: from the snapshot's on, without a gap, and up to the one
 * that the mark names.
 */
function wantedLogs(
  names: JournalFileNames,
  snapshot: number | undefined,
  marked: number,
): number[] {
  const first = snapshot ?? 1
  const logs = names.logs.filter((sequence) => sequence >= first)
  if (logs.length === 0 && snapshot === undefined && marked === 0) return []
  const last = Math.max(logs.at(-1) ?? first, marked)
  for (let sequence = first; sequence <= last; sequence++) {
    if (!logs.includes(sequence)) {
      throw toDamaged(journalFileName('log', sequence), 0, 'the file is missing')
    }
  }
  return logs
}
