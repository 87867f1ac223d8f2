import type { Disk } from '../disk.ts'
import { toDamaged, toNewerFormat } from '../journal-errors.ts'
import { temporaryName } from '../journal-file-names.ts'
import { RunningChecksum } from '../running-checksum.ts'

/**
 * Where the journal ended, kept apart from the log, so that a log which has lost its end is told from one
 * that was always so short. The mark promises, at every moment and whatever was synced of it:
 *
 * - The log `log` exists, and batch `batch` is durable. A mark is written after both, never before.
 * - No number above `ceiling` was given out before the next mark was durable. A batch with a number above
 *   it waits for that mark.
 * - When `isClosed`, all three are exact: nothing was appended after batch `batch`.
 *
 * Hence no crash leaves a log that ends before its mark: where one is found, acknowledged batches were
 * lost. What is lost behind an open mark cannot be told from a batch that was never finished; there the
 * ceiling sees to it that no number is given out twice. All numbers given out later are above `floor`.
 *
 * What the mark cannot know: when it is put back together with the log to what both were at an earlier
 * moment, as by restoring a backup.
 */
export interface Mark {
  readonly isClosed: boolean
  /** Sequence number of the last log that is known to exist; 0 before the first. */
  readonly log: number
  readonly batch: number
  readonly floor: number
  readonly ceiling: number
}

/**
 * The file, little-endian:
 *
 * ```
 *  0  8 bytes  "HOLDMARK"
 *  8  u32      version of the format
 * 12  u32      1 when closed, 0 when open
 * 16  u64      log, batch, floor, ceiling, one after the other
 * 48  u32      CRC-32C of the bytes before
 * ```
 */
export const MARK_FILE_NAME = 'mark'

const MAGIC = Buffer.from('HOLDMARK', 'latin1')
const VERSION = 1
const CHECKED_BYTES = 48
const MARK_BYTES = CHECKED_BYTES + 4

function encodeMark(mark: Mark): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(mark.isClosed ? 1 : 0, 12)
  const numbers = [mark.log, mark.batch, mark.floor, mark.ceiling]
  for (const [i, number] of numbers.entries()) bytes.writeBigUInt64LE(BigInt(number), 16 + i * 8)
  bytes.writeUInt32LE(new RunningChecksum(0).update(bytes, 0, CHECKED_BYTES), CHECKED_BYTES)
  return bytes
}

function parseMark(bytes: Buffer): Mark {
  const isWhole = bytes.length === MARK_BYTES && bytes.subarray(0, 8).equals(MAGIC)
  const checksum = isWhole ? new RunningChecksum(0).update(bytes, 0, CHECKED_BYTES) : 0
  if (!isWhole || checksum !== bytes.readUInt32LE(CHECKED_BYTES)) {
    throw toDamaged(MARK_FILE_NAME, 0, 'it cannot be read, so where the log ended is not known')
  }
  const version = bytes.readUInt32LE(8)
  if (version !== VERSION) throw toNewerFormat(MARK_FILE_NAME, version)
  const numberAt = (offset: number): number => Number(bytes.readBigUInt64LE(offset))
  return {
    isClosed: bytes.readUInt32LE(12) === 1,
    log: numberAt(16),
    batch: numberAt(24),
    floor: numberAt(32),
    ceiling: numberAt(40),
  }
}

/** The mark, or null when the directory has none. A mark gets its name when it is whole and durable. */
export async function readMark(disk: Disk, names: readonly string[]): Promise<Mark | null> {
  if (!names.includes(MARK_FILE_NAME)) return null
  const file = await disk.open(MARK_FILE_NAME, 'buffered')
  try {
    const bytes = Buffer.alloc(Math.min(await file.size(), MARK_BYTES + 1))
    await file.read(bytes, 0)
    return parseMark(bytes)
  } finally {
    await file.close()
  }
}

/** Replaces the mark. Until this resolves either the one before or this one is found; afterwards this one. */
export async function writeMark(disk: Disk, mark: Mark): Promise<void> {
  const temporary = temporaryName(MARK_FILE_NAME)
  await disk.remove(temporary)
  const file = await disk.create(temporary, 'buffered')
  try {
    await file.write(encodeMark(mark), 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await disk.rename(temporary, MARK_FILE_NAME)
  await disk.syncDirectory()
}
