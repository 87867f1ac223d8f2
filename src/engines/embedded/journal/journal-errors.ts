import { createError, type LockError } from '../../../engine/errors/errors.ts'

/** What the journal throws, in the codes of the public catalogue. */

const REPAIR = 'holdfast repair DIR'
const WHAT_TO_DO =
  'Nothing was changed. Put lost files back, restore the directory from a backup, ' +
  `or accept the loss with "${REPAIR}"`

/**
 * The files do not say what was acknowledged, so recovery refuses to guess. `offset` is the first byte of
 * the part that cannot be read: of a batch, of a file's header, or of a gap.
 */
export function toDamaged(file: string, offset: number, found: string): LockError {
  const message = `The journal is damaged in ${file} at byte ${offset}: ${found}. ${WHAT_TO_DO}.`
  return createError('LOCK_STORAGE_DAMAGED', message, { details: { file, offset, found } })
}

/** The same error with the directory in the command that it names. */
export function nameDirectory(error: LockError, directory: string): LockError {
  const message = error.message.replace(REPAIR, `holdfast repair ${directory}`)
  return createError('LOCK_STORAGE_DAMAGED', message, { details: error.details })
}

/** A file was written in a format that this version does not know, most likely by a newer one. */
export function toNewerFormat(file: string, version: number): LockError {
  const message = `${file} is in journal format ${version}, which this version cannot read. Upgrade first.`
  return createError('LOCK_STORAGE_NEWER', message, { details: { file, version } })
}

/**
 * The disk refused a write or a sync. A sync that failed once may report success when it is repeated,
 * although the data is gone, so the journal never tries again: it stays failed until the directory is
 * opened anew.
 *
 * `maybe`: the record was in the batch that was being written, and reopening may find it there. `no`: it was
 * never handed to the disk.
 */
export function toWriteFailed(cause: unknown, applied: 'no' | 'maybe'): LockError {
  const attempted =
    'The journal could not be written, and what the disk has of it is not known: ' +
    'restart, so that it is read anew'
  return toStorageFailed(cause, { applied, attempted })
}

const OUT_OF_ROOM_CODES = ['ENOSPC', 'EDQUOT']

/** Whether a write failed only because there was no room for it. */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof Error && OUT_OF_ROOM_CODES.includes(codeOf(error))
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

/**
 * There is no room for a batch. It is written when there is, so what was in it may be applied; what is asked
 * until then is not.
 */
export function toOutOfRoom(cause: unknown, applied: 'no' | 'maybe'): LockError {
  const attempted =
    'The disk is full, so nothing can be changed. Free some room; no restart is needed'
  return toStorageFailed(cause, { applied, attempted })
}

/** An error of the system, where it did not come from the catalogue already. */
function toStorageFailed(
  cause: unknown,
  { applied, attempted }: { readonly applied: 'no' | 'maybe'; readonly attempted?: string },
): LockError {
  const found = cause instanceof Error ? cause.message : String(cause)
  const message = attempted === undefined ? found : `${attempted}: ${found}`
  return createError('LOCK_STORAGE_FAILED', message, { cause, applied })
}

const DIRECTORY_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'this user has not the right to read and write it',
  EPERM: 'this user has not the right to read and write it',
  EROFS: 'its file system is mounted read-only',
  ENOSPC: 'the disk is full, and opening needs some room',
  EDQUOT: 'the quota of this user is used up, and opening needs some room',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is a file',
}

/** A data directory cannot be opened as it is: what the system said, and what that means. */
export function toDirectoryUnusable(error: unknown, directory: string): LockError {
  const problem = error instanceof Error ? DIRECTORY_PROBLEMS[codeOf(error)] : undefined
  const attempted = `The data directory ${directory} cannot be used`
  const explained = problem === undefined ? attempted : `${attempted}, because ${problem}`
  return toStorageFailed(error, { applied: 'no', attempted: explained })
}

/** Another process, or another part of this one, has the data directory open. */
export function toDirectoryOwned(directory: string, pid: number): LockError {
  const who = pid === process.pid ? 'this process already' : `process ${pid}`
  const message =
    `${directory} is in use: ${who} has it open (pid ${pid}). ` +
    'One process owns a data directory: stop the other one, or use another directory. ' +
    `If this is a copy that was made while that process ran, remove ${directory}/owner.`
  return createError('LOCK_DIRECTORY_OWNED', message, { details: { pid, directory } })
}
