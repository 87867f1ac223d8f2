import { RunningChecksum } from './running-checksum.ts'

/**
 * A frame is one batch of records on disk, and the unit in which the journal is written, synced and
 * recovered: all of its records are there or none. All numbers are little-endian.
 *
 * ```
 *  0  u32  marker
 *  4  u32  bytes of the records that follow this header
 *  8  u32  number of records
 * 12  u64  number of the batch
 * 20  u32  checksum of the last record, or the file's salt when there is none
 * 24  u32  CRC-32C of the bytes before, seeded with the file's salt
 * 28  records, each:
 *       0  u32  checksum
 *       4  u32  length
 *       8  bytes
 * ```
 *
 * A record's checksum is a CRC-32C of its length and bytes, continued from the record before, and
 * for the first one from the salt. The last checksum therefore vouches for all of them, and the
 * header, which repeats it, for their being the records of this batch.
 */
export const FRAME_HEADER_BYTES = 28
export const RECORD_HEADER_BYTES = 8

/** Bytes that no run of zeros contains, so that space filled ahead is never taken for a frame. */
export const FRAME_MARKER: Buffer = Buffer.from([0xb1, 0x7c, 0x48, 0x46])

const CHECKED_BYTES = FRAME_HEADER_BYTES - 4

export interface FrameHeader {
  readonly number: number
  readonly recordsBytes: number
  readonly count: number
  readonly lastChecksum: number
}

/** Writes the header at the start of `bytes`, in front of records that are already there. */
export function writeFrameHeader(bytes: Buffer, header: FrameHeader, salt: number): void {
  FRAME_MARKER.copy(bytes)
  bytes.writeUInt32LE(header.recordsBytes, 4)
  bytes.writeUInt32LE(header.count, 8)
  bytes.writeUIntLE(header.number, 12, 6)
  bytes.writeUInt16LE(0, 18)
  bytes.writeUInt32LE(header.lastChecksum, 20)
  bytes.writeUInt32LE(new RunningChecksum(salt).update(bytes, 0, CHECKED_BYTES), CHECKED_BYTES)
}

/** The header that begins at the start of `bytes`, or null when none does. */
export function tryReadFrameHeader(bytes: Buffer, salt: number): FrameHeader | null {
  if (bytes.length < FRAME_HEADER_BYTES || FRAME_MARKER.compare(bytes, 0, 4) !== 0) return null
  const checksum = new RunningChecksum(salt).update(bytes, 0, CHECKED_BYTES)
  if (checksum !== bytes.readUInt32LE(CHECKED_BYTES)) return null
  return {
    number: bytes.readUIntLE(12, 6),
    recordsBytes: bytes.readUInt32LE(4),
    count: bytes.readUInt32LE(8),
    lastChecksum: bytes.readUInt32LE(20),
  }
}

/**
 * The records of a frame, or null when any part of them is not what was written. They are views of
 * `bytes`, which must be exactly the records that follow the header.
 */
export function tryReadRecords(
  bytes: Buffer,
  header: FrameHeader,
  salt: number,
): Uint8Array[] | null {
  const checksum = new RunningChecksum(salt)
  const records: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    const start = at + RECORD_HEADER_BYTES
    if (start > bytes.length) return null
    const end = start + bytes.readUInt32LE(at + 4)
    if (end > bytes.length) return null
    if (checksum.update(bytes, at + 4, end) !== bytes.readUInt32LE(at)) return null
    records.push(bytes.subarray(start, end))
    at = end
  }
  return records.length === header.count && checksum.value === header.lastChecksum ? records : null
}
