import { isLockError, type LockError } from '../../../engine/errors/errors.ts'
import type { Disk } from './disk.ts'
import { createSalt } from './file-header.ts'
import {
  journalFileName,
  type JournalFileNames,
  parseJournalFileNames,
} from './journal-file-names.ts'
import { NUMBERS_WHERE_MARK_IS_LOST, PREALLOCATE_BYTES } from './journal-limits.ts'
import { Journal } from './journal.ts'
import { LogFile } from './log-file.ts'
import { LogWalk } from './log-walk.ts'
import { type Mark, MARK_FILE_NAME, readMark, writeMark } from './mark/mark-file.ts'
import type { JournalOwner } from './owner/journal-owner.ts'
import { readSnapshot, writeSnapshot } from './snapshot-file.ts'

/**
 * What a repair did. `none`: the directory has no journal. `intact`: it opens as it is, and nothing was
 * dropped.
 */
export type Repair =
  | { readonly kind: 'none' | 'intact' }
  | {
      readonly kind: 'repaired'
      /** Why the journal could not be opened. */
      readonly damage: LockError
      /** The last batch that was kept, and the last one that is known to have been there. */
      readonly keptBatch: number
      readonly knownBatch: number
      /** Every number given out from now on is above this one. */
      readonly above: number
      /** What the files of before are called now. */
      readonly renamed: readonly string[]
    }

const DROPPED_SUFFIX = '.dropped'

/**
 * Makes a damaged journal usable again, at the price of what cannot be read: it keeps the state up to the first
 * place that cannot be read, and drops everything behind. That state becomes a snapshot, and numbers go on
 * above all that may have been given out.
 *
 * The new mark is written first and names a log that comes last, so that a repair that is cut short leaves a
 * journal which is refused, and can be repaired again. The files of before are kept under other names.
 */
export async function repairJournal(disk: Disk, createOwner: () => JournalOwner): Promise<Repair> {
  await disk.syncDirectory()
  const everyName = await disk.list()
  const names = parseJournalFileNames(everyName)
  const isJournal = names.logs.length + names.snapshots.length > 0
  if (!isJournal && !everyName.includes(MARK_FILE_NAME)) return { kind: 'none' }
  const damage = await findDamage(disk, createOwner())
  if (damage === null) return { kind: 'intact' }
  const mark = await unlessDamaged(readMark(disk, everyName))
  const owner = createOwner()
  const keptBatch = await readWhatCanBeRead(disk, names, owner)
  const above = numbersEnd(mark, { keptBatch, highest: owner.highest })
  owner.raise(above)
  const knownBatch = Math.max(keptBatch, mark?.batch ?? 0)
  await writeAnew(disk, owner, {
    isClosed: false,
    log: Math.max(0, ...names.logs, ...names.snapshots, mark?.log ?? 0) + 1,
    batch: knownBatch,
    floor: above,
    ceiling: above,
  })
  const renamed = await renameAll(disk, names)
  return { kind: 'repaired', damage, keptBatch, knownBatch, above, renamed }
}

async function findDamage(disk: Disk, owner: JournalOwner): Promise<LockError | null> {
  try {
    const journal = await Journal.open(disk, owner)
    await journal.close()
    return null
  } catch (error) {
    if (isLockError(error, 'LOCK_STORAGE_DAMAGED')) return error
    throw error
  }
}

async function unlessDamaged<Result>(reading: Promise<Result>): Promise<Result | null> {
  try {
    return await reading
  } catch (error) {
    if (isLockError(error, 'LOCK_STORAGE_DAMAGED')) return null
    throw error
  }
}

/** Hands the owner everything up to the first place that cannot be read. Returns the last batch of it. */
async function readWhatCanBeRead(
  disk: Disk,
  { logs, snapshots }: JournalFileNames,
  owner: JournalOwner,
): Promise<number> {
  const first = snapshots.at(-1)
  let firstBatch = 1
  if (first !== undefined) {
    const base = await unlessDamaged(readSnapshot(disk, first, (chunk) => owner.restore(chunk)))
    if (base === null) return 0
    firstBatch = base.firstBatch
  }
  const walk = new LogWalk(disk, { firstBatch }, (record) => owner.replay(record))
  try {
    for (let sequence = first ?? 1; logs.includes(sequence); sequence++) {
      const read = await unlessDamaged(walk.readLog(sequence).then(() => true))
      if (read === null) break
    }
  } finally {
    await walk.closeAll()
  }
  return walk.expected - 1
}

/** Where a mark is lost, or is older than the log, nothing says how far the numbers went: they leap. */
function numbersEnd(
  mark: Mark | null,
  { keptBatch, highest }: { readonly keptBatch: number; readonly highest: number },
): number {
  const isOlder = mark !== null && mark.isClosed && keptBatch > mark.batch
  if (mark !== null && !isOlder && highest <= mark.ceiling)
    return Math.max(mark.floor, mark.ceiling)
  return Math.max(highest, mark?.ceiling ?? 0) + NUMBERS_WHERE_MARK_IS_LOST
}

async function writeAnew(disk: Disk, owner: JournalOwner, mark: Mark): Promise<void> {
  const { log: sequence, batch } = mark
  await writeMark(disk, mark)
  await writeSnapshot(disk, {
    sequence,
    firstBatch: batch + 1,
    salt: createSalt(),
    chunks: owner.snapshot(),
    signal: new AbortController().signal,
    mayPublish: () => Promise.resolve(),
  })
  const preallocateBytes = PREALLOCATE_BYTES
  const log = await LogFile.create(disk, { sequence, salt: createSalt(), preallocateBytes })
  await log.close()
}

async function renameAll(disk: Disk, { logs, snapshots }: JournalFileNames): Promise<string[]> {
  const renamed: string[] = []
  const old = [
    ...logs.map((sequence) => journalFileName('log', sequence)),
    ...snapshots.map((sequence) => journalFileName('snapshot', sequence)),
  ]
  for (const name of old) {
    await disk.rename(name, name + DROPPED_SUFFIX)
    renamed.push(name + DROPPED_SUFFIX)
  }
  await disk.syncDirectory()
  return renamed
}
