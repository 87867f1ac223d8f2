import type { Disk, DiskFile } from './disk.ts'
import { FILE_HEADER_BYTES, encodeFileHeader, parseFileHeader } from './file-header.ts'
import { FrameBuilder, assertRecordFits } from './frame-builder.ts'
import { FrameReader } from './frame-reader.ts'
import { toDamaged } from './journal-errors.ts'
import { journalFileName, temporaryName } from './journal-file-names.ts'
import { SNAPSHOT_PIECE_BYTES, SNAPSHOT_SYNC_BYTES } from './journal-limits.ts'

/**
 * A snapshot is a file header and frames numbered from 1, whose records are the chunks of the
 * owner; an empty frame ends it. Unlike a log it is complete before it gets its name, so anything
 * amiss in it is damage.
 */
export interface SnapshotPlan {
  readonly sequence: number
  /** Number of the first batch of the log that follows on this snapshot. */
  readonly firstBatch: number
  readonly salt: number
  readonly chunks: Iterable<Uint8Array>
  /** Aborted when the snapshot is no longer wanted. */
  readonly signal: AbortSignal
  /** Resolves when the snapshot may become the truth; called after the last chunk was taken. */
  readonly mayPublish: () => Promise<void>
}

/** Writes a snapshot and resolves with its size. When it resolves, all of it is durable. */
export async function writeSnapshot(disk: Disk, plan: SnapshotPlan): Promise<number> {
  const name = journalFileName('snapshot', plan.sequence)
  await disk.remove(temporaryName(name))
  const file = await disk.create(temporaryName(name), 'buffered')
  try {
    const size = await writeFrames(file, plan)
    await plan.mayPublish()
    await file.sync()
    plan.signal.throwIfAborted()
    await disk.rename(temporaryName(name), name)
    await disk.syncDirectory()
    return size
  } catch (error) {
    await disk.remove(temporaryName(name)).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
}

async function writeFrames(file: DiskFile, plan: SnapshotPlan): Promise<number> {
  const { salt, signal } = plan
  const header = encodeFileHeader({ ...plan, kind: 'snapshot' })
  await file.write(header, 0)
  let position = header.length
  let synced = 0
  let buffer: Buffer = Buffer.allocUnsafeSlow(SNAPSHOT_PIECE_BYTES)
  let frame = new FrameBuilder({ number: 1, salt, buffer })
  const flush = async (): Promise<void> => {
    signal.throwIfAborted()
    const sealed = frame.seal()
    await file.write(sealed, position)
    position += sealed.length
    if (position - synced >= SNAPSHOT_SYNC_BYTES) {
      await file.sync()
      synced = position
    }
    buffer = frame.buffer
    frame = new FrameBuilder({ number: frame.number + 1, salt, buffer })
  }
  for (const chunk of plan.chunks) {
    assertRecordFits(chunk)
    frame.add(chunk)
    if (frame.byteLength >= SNAPSHOT_PIECE_BYTES) await flush()
  }
  if (frame.count > 0) await flush()
  await flush()
  return position
}

export interface SnapshotRead {
  readonly firstBatch: number
  readonly sizeBytes: number
  readonly version: number
}

/** Reads a snapshot and hands over its chunks in order. */
export async function readSnapshot(
  disk: Disk,
  sequence: number,
  restore: (chunk: Uint8Array) => void,
): Promise<SnapshotRead> {
  const name = journalFileName('snapshot', sequence)
  const file = await disk.open(name, 'buffered')
  try {
    const reader = new FrameReader(file, await file.size())
    const header = parseFileHeader(await reader.bytes(0, FILE_HEADER_BYTES), name)
    if (header.kind !== 'snapshot' || header.sequence !== sequence) {
      throw toDamaged(name, 0, 'the file is not the one its name says')
    }
    let offset = FILE_HEADER_BYTES
    for (let number = 1; ; number++) {
      const frame = await reader.tryReadFrame(offset, header.salt)
      if (frame === null || frame.number !== number) {
        throw toDamaged(name, offset, 'a part of the snapshot cannot be read')
      }
      offset = frame.end
      if (frame.records.length === 0) break
      for (const chunk of frame.records) restore(chunk)
    }
    if (offset !== reader.size) {
      throw toDamaged(name, offset, 'the snapshot goes on after its end')
    }
    return { ...header, sizeBytes: reader.size }
  } finally {
    await file.close()
  }
}
