import type { Disk } from './disk.ts'
import { toDamaged } from './journal-errors.ts'
import {
  type JournalFileNames,
  journalFileName,
  parseJournalFileNames,
} from './journal-file-names.ts'
import { LogFile } from './log-file.ts'
import { LogWalk, type TornBatch } from './log-walk.ts'
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
 * What cannot be told: if the very last batch was synced and acknowledged, and its bytes were
 * damaged later while nothing was written behind it, it looks exactly like a torn one and is cut.
 * Closing the journal writes an empty batch at the end, so this concerns journals that were not
 * closed. Equally, a last log that was deleted by hand is not missed.
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
  readonly cut: TornBatch | null
}

export interface RecoveryOptions {
  readonly restore: (chunk: Uint8Array) => void
  readonly replay: (record: Uint8Array) => void
  readonly createSalt: () => number
  readonly preallocateBytes: number
}

export async function recover(disk: Disk, options: RecoveryOptions): Promise<Recovered> {
  await disk.syncDirectory()
  const names = parseJournalFileNames(await disk.list())
  const snapshot = names.snapshots.at(-1)
  const sequences = wantedLogs(names, snapshot)
  let chunks = 0
  const restore = (chunk: Uint8Array): void => {
    chunks++
    options.restore(chunk)
  }
  const base = snapshot === undefined ? null : await readSnapshot(disk, snapshot, restore)
  const walk = new LogWalk(disk, base?.firstBatch ?? 1, options.replay)
  try {
    for (const sequence of sequences) await walk.readLog(sequence)
    await walk.repair()
    await removeOutdated(disk, sequences[0] ?? 1)
    const { preallocateBytes } = options
    const log =
      (await walk.openLast(preallocateBytes)) ??
      (await LogFile.create(disk, { sequence: 1, salt: options.createSalt(), preallocateBytes }))
    return {
      log,
      nextNumber: walk.expected,
      olderBytes: walk.framesBytes - log.framesBytes,
      snapshotBytes: base?.sizeBytes ?? 0,
      endsClosed: walk.endsClosed,
      summary: { chunks, records: walk.records, cut: walk.cut },
    }
  } catch (error) {
    await walk.closeAll()
    throw error
  }
}

/** The logs to read, all of which must be there: from the snapshot's on, without a gap. */
function wantedLogs(names: JournalFileNames, snapshot: number | undefined): number[] {
  const first = snapshot ?? 1
  const logs = names.logs.filter((sequence) => sequence >= first)
  if (logs.length === 0 && snapshot === undefined) return []
  const last = logs.at(-1) ?? first
  for (let sequence = first; sequence <= last; sequence++) {
    if (!logs.includes(sequence)) {
      throw toDamaged(journalFileName('log', sequence), 0, 'the file is missing')
    }
  }
  return logs
}
