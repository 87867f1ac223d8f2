/**
 * What the journal throws. These classes know nothing of locks; the engine maps them to the public
 * catalogue of errors.
 */

const WHAT_TO_DO =
  'Nothing was changed. Restore the directory from a backup, or move it away to start empty, ' +
  'knowing that everything recorded in it is then forgotten'

/** The files do not say what was acknowledged, so recovery refuses to guess. */
export class JournalDamagedError extends Error {
  override readonly name = 'JournalDamagedError'
  /** Name of the file inside the data directory. */
  readonly file: string
  /** First byte of the part that cannot be read: of a batch, of a file's header, or of a gap. */
  readonly offset: number

  constructor(file: string, offset: number, found: string) {
    super(`The journal is damaged in ${file} at byte ${offset}: ${found}. ${WHAT_TO_DO}.`)
    this.file = file
    this.offset = offset
  }
}

/** A file was written in a format that this version does not know, most likely by a newer one. */
export class JournalVersionError extends Error {
  override readonly name = 'JournalVersionError'
  readonly file: string
  readonly version: number

  constructor(file: string, version: number) {
    super(`${file} is in journal format ${version}, which this version cannot read. Upgrade first.`)
    this.file = file
    this.version = version
  }
}

export interface JournalFailedErrorOptions {
  /**
   * `maybe`: the record was in the batch that was being written, and reopening may find it there.
   * `no`: it was never handed to the disk.
   */
  readonly applied: 'no' | 'maybe'
  readonly cause: unknown
}

/**
 * The disk refused a write or a sync. A sync that failed once may report success when it is
 * repeated, although the data is gone, so the journal never tries again: it stays failed until the
 * directory is opened anew.
 */
export class JournalFailedError extends Error {
  override readonly name = 'JournalFailedError'
  readonly applied: 'no' | 'maybe'

  constructor(attempted: string, options: JournalFailedErrorOptions) {
    const { cause } = options
    super(`${attempted}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.applied = options.applied
  }
}

/** The journal was closed before the record was handed to it. The record was not written. */
export class JournalClosedError extends Error {
  override readonly name = 'JournalClosedError'

  constructor() {
    super('The journal is closed.')
  }
}

/** Another process, or another part of this one, has the data directory open. */
export class DirectoryOwnedError extends Error {
  override readonly name = 'DirectoryOwnedError'
  readonly directory: string
  readonly pid: number

  constructor(directory: string, pid: number) {
    const who = pid === process.pid ? 'this process already' : `process ${pid}`
    super(
      `${directory} is in use: ${who} has it open (pid ${pid}). ` +
        'One process owns a data directory: stop the other one, or use another directory.',
    )
    this.directory = directory
    this.pid = pid
  }
}
