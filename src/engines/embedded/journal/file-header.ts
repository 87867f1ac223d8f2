import { randomInt } from 'node:crypto'

import { toDamaged, toNewerFormat } from './journal-errors.ts'
import { RunningChecksum } from './running-checksum.ts'

/**
 * The first bytes of every file of the journal. All numbers are little-endian.
 *
 * ```
 *  0  8 bytes  "HOLDFAST"
 *  8  u32      version of the format
 * 12  u32      kind: 1 log, 2 snapshot
 * 16  u64      sequence number, as in the file's name
 * 24  u64      first batch of the log with this sequence number; 0 in a log, which cannot know it
 * 32  u32      salt
 * 36  u32      CRC-32C of the bytes before
 * ```
 *
 * The salt is random and goes into every checksum of the file, so that bytes which were left on the
 * disk by another file can never pass for a part of this one.
 */
export interface FileHeader {
  readonly kind: 'log' | 'snapshot'
  readonly sequence: number
  readonly firstBatch: number
  readonly salt: number
  /** Version of the format. New files are in the newest. */
  readonly version: number
}

export const FILE_HEADER_BYTES = 40

const MAGIC = Buffer.from('HOLDFAST', 'latin1')
/** Version 1 was written without a mark; where a file of version 2 is, there is one. */
const VERSION = 2
export const FIRST_VERSION_WITH_MARK = 2
const KINDS = ['log', 'snapshot'] as const
const CHECKED_BYTES = FILE_HEADER_BYTES - 4

export function createSalt(): number {
  return randomInt(2 ** 32)
}

export function encodeFileHeader(header: Omit<FileHeader, 'version'>): Buffer {
  const bytes = Buffer.alloc(FILE_HEADER_BYTES)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(KINDS.indexOf(header.kind) + 1, 12)
  bytes.writeBigUInt64LE(BigInt(header.sequence), 16)
  bytes.writeBigUInt64LE(BigInt(header.firstBatch), 24)
  bytes.writeUInt32LE(header.salt, 32)
  bytes.writeUInt32LE(new RunningChecksum(0).update(bytes, 0, CHECKED_BYTES), CHECKED_BYTES)
  return bytes
}

/**
 * Reads the header of the file `name`. A file gets its name only after its header is durable, so
 * a header that cannot be read is damage, never a write that was cut short.
 */
export function parseFileHeader(bytes: Buffer, name: string): FileHeader {
  if (bytes.length < FILE_HEADER_BYTES) {
    throw toDamaged(name, 0, 'the file is shorter than its header')
  }
  const checksum = new RunningChecksum(0).update(bytes, 0, CHECKED_BYTES)
  if (!bytes.subarray(0, 8).equals(MAGIC) || checksum !== bytes.readUInt32LE(CHECKED_BYTES)) {
    throw toDamaged(name, 0, "the file's header cannot be read")
  }
  const version = bytes.readUInt32LE(8)
  if (version < 1 || version > VERSION) throw toNewerFormat(name, version)
  const kind = KINDS[bytes.readUInt32LE(12) - 1]
  if (kind === undefined) throw toDamaged(name, 0, 'the file is of an unknown kind')
  return {
    kind,
    sequence: Number(bytes.readBigUInt64LE(16)),
    firstBatch: Number(bytes.readBigUInt64LE(24)),
    salt: bytes.readUInt32LE(32),
    version,
  }
}
