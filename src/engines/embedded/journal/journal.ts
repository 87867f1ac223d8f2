import { toClosed } from '../../../engine/errors/engine-errors.ts'
import type { LockError } from '../../../engine/errors/errors.ts'
import { CommitQueue, refusal } from './commit-queue.ts'
import type { JournalStats } from '../../../engine/queries.ts'
import type { Disk } from './disk.ts'
import { createSalt } from './file-header.ts'
import { HighWater } from './mark/high-water.ts'
import { COMPACT_MIN_BYTES, NUMBERS_PER_MARK, PREALLOCATE_BYTES } from './journal-limits.ts'
import type { JournalOwner } from './owner/journal-owner.ts'
import { LogFile } from './log-file.ts'
import { type Recovered, type RecoverySummary, readUpTo, recover } from './recovery.ts'
import { removeOutdated } from './remove-outdated.ts'
import { writeSnapshot } from './snapshot-file.ts'

export interface JournalOptions {
  /** Compact when the log has more bytes than this and than twice the snapshot. Default 16 MiB. */
  readonly compactMinBytes?: number
  /** How far ahead the log is filled with zeros. Default 1 MiB. */
  readonly preallocateBytes?: number
  /** How many numbers the owner may give out before the mark is written anew. Default 65,536. */
  readonly numbersPerMark?: number
  /**
   * Runs a function when the current turn of the event loop is over. Default `setImmediate`, which
   * lets everything run that is ready in this turn and waits for no time to pass.
   */
  readonly defer?: (run: () => void) => void
  /** Where the random salt of each file comes from: an integer below 2^32. */
  readonly createSalt?: () => number
}

const DEFAULTS: Required<JournalOptions> = {
  compactMinBytes: COMPACT_MIN_BYTES,
  preallocateBytes: PREALLOCATE_BYTES,
  numbersPerMark: NUMBERS_PER_MARK,
  defer: setImmediate,
  createSalt,
}

/**
 * An append-only journal with group commit and snapshots.
 *
 * `append` puts a record into the batch that is gathering and returns the batch's promise. At the
 * end of the turn the batch is written and synced as one frame while the next one gathers; there is
 * never more than one in flight. When it is done its promise resolves. The next one starts at once if
 * much has gathered meanwhile, and else at the end of that turn, so that whoever was just answered and
 * appends again is in it. Alone, an append takes one write and no timer.
 *
 * Compaction runs beside it. A new log is made ready; then, in one step, the owner is asked for its
 * state, the gathering batch is closed, and later ones go to the new log. The snapshot is published
 * when everything that its chunks may show is durable in the logs. Until then, and if anything goes
 * wrong, the old snapshot and all logs since are the truth; afterwards the older files are removed.
 *
 * When a write or a sync fails, nothing of that batch is acknowledged, nor of any later one. If there was only
 * no room, the batches are kept until `retry` has written them. Otherwise the journal stays failed: what did reach
 * the disk is sorted out by opening it anew.
 *
 * One journal at a time may have a directory open; `claimDirectory` sees to that.
 */
export class Journal {
  /** What opening found. */
  readonly recovery: RecoverySummary
  readonly #disk: Disk
  readonly #owner: JournalOwner
  readonly #options: Required<JournalOptions>
  readonly #commits: CommitQueue
  readonly #recovered: Recovered
  readonly #highWater: HighWater
  /** Aborted when compaction must stop, because the journal failed or is being closed. */
  readonly #stop = new AbortController()
  #log: LogFile
  /** Bytes of frames since the last snapshot in logs before the current one. */
  #olderBytes: number
  #snapshotBytes: number
  #compactAboveBytes: number
  #compaction: Promise<void> | null = null
  #refused: Promise<never> | null = null
  #closing: Promise<void> | null = null
  #compactionFailures = 0
  #lastCompactionError: string | undefined

  private constructor(
    disk: Disk,
    owner: JournalOwner,
    start: { options: Required<JournalOptions>; recovered: Recovered },
  ) {
    const { options, recovered } = start
    this.#disk = disk
    this.#owner = owner
    this.#options = options
    this.#recovered = recovered
    this.recovery = recovered.summary
    this.#log = recovered.log
    this.#olderBytes = recovered.olderBytes
    this.#snapshotBytes = recovered.snapshotBytes
    this.#compactAboveBytes = this.#allowedBytes()
    this.#highWater = new HighWater(disk, {
      mark: recovered.mark,
      numbersPerMark: options.numbersPerMark,
      highest: () => owner.highest,
      end: () => ({ log: this.#log.sequence, batch: this.#commits.durableNumber }),
    })
    this.#commits = new CommitQueue({
      log: recovered.log,
      nextNumber: recovered.nextNumber,
      defer: options.defer,
      beforeWrite: () => this.#highWater.cover(),
      onCommitted: () => {
        this.#highWater.renewIfDue()
        this.#compactIfLong()
      },
      onFailed: () => this.#stop.abort(),
      onFull: (error) => this.onFull(error),
    })
  }

  /**
   * Hands the snapshot and then each record to the owner, in order, and is then ready for more.
   * When it rejects, what the owner was given must be thrown away. It rejects with
   * `LOCK_STORAGE_DAMAGED` or `LOCK_STORAGE_NEWER`, or with the system's error when the disk
   * refuses; then nothing acknowledged was changed.
   */
  static async open(
    disk: Disk,
    owner: JournalOwner,
    options: JournalOptions = {},
  ): Promise<Journal> {
    const all = { ...DEFAULTS, ...options }
    const recovered = await recover(disk, {
      owner,
      createSalt: all.createSalt,
      preallocateBytes: all.preallocateBytes,
      numbersPerMark: all.numbersPerMark,
    })
    return new Journal(disk, owner, { options: all, recovered })
  }

  /** Called when there is no room for a batch, before any caller hears of it. Then `retry` is for the owner to call. */
  onFull: (error: LockError) => void = () => {}

  /** Why the journal takes no more records, or null while it works. */
  get failure(): LockError | null {
    return this.#commits.failure
  }

  /** Why it takes no records for now, or null: there is no room, and `retry` has not succeeded yet. */
  get full(): LockError | null {
    return this.#commits.full
  }

  /**
   * Writes what there was no room for, and resolves with whether records are taken again. When it says no, either
   * there is still no room, or the journal has failed.
   */
  retry(): Promise<boolean> {
    return this.#commits.retry()
  }

  /** Hands another owner what is durable, and nothing of what there was no room for. */
  readDurable(owner: JournalOwner): Promise<void> {
    return readUpTo(this.#disk, owner, this.#commits.durableNumber)
  }

  /** What it has done since it was opened, for operators. */
  get stats(): JournalStats {
    const { syncs, bytes } = this.#commits.written
    const lastCompactionError = this.#lastCompactionError
    return {
      syncs,
      bytes,
      compactionFailures: this.#compactionFailures,
      ...(lastCompactionError !== undefined && { lastCompactionError }),
      ...(this.full !== null && { full: this.full.message }),
    }
  }

  /**
   * Adds a record; the bytes are copied before this returns. The promise resolves when the record
   * is durable. All records of a batch get the same promise, so that a caller can do its work per
   * batch by comparing it with the one before. It rejects with `LOCK_STORAGE_FAILED`, which says
   * whether the record may be found again, or `LOCK_ENGINE_CLOSED`; a rejection that no caller waits
   * for is dropped.
   *
   * @throws {RangeError} when the record is longer than `MAX_RECORD_BYTES`.
   */
  append(record: Uint8Array): Promise<void> {
    return this.#refused ?? this.#commits.append(record)
  }

  /**
   * Writes what was appended, notes that the end is a proper one, and closes the files. Never
   * rejects because of an earlier failure: those whose records were lost have been told.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#refused = refusal(toClosed())
    if (!(await this.#commits.retry())) this.#commits.giveUp()
    await this.#commits.settledSoFar().catch(() => {})
    this.#stop.abort()
    await this.#compaction
    const { endsClosed, nextNumber } = this.#recovered
    const endsEmpty = endsClosed && this.#commits.nextNumber === nextNumber
    if (!endsEmpty) await this.#commits.appendEmpty().catch(() => {})
    // Without the mark of a proper end the next opening goes on as after a crash.
    const isWhole = this.#commits.failure === null && this.#commits.full === null
    if (isWhole) await this.#highWater.close().catch(() => {})
    this.#commits.giveUp()
    await this.#log.close()
  }

  /** How long the log may get on top of the present snapshot. */
  #allowedBytes(): number {
    return Math.max(this.#options.compactMinBytes, 2 * this.#snapshotBytes)
  }

  #logBytes(): number {
    return this.#olderBytes + this.#log.framesBytes
  }

  #compactIfLong(): void {
    if (this.#compaction !== null || this.#stop.signal.aborted) return
    if (this.#logBytes() <= this.#compactAboveBytes) return
    this.#compaction = this.#compact().finally(() => {
      this.#compaction = null
    })
  }

  /** Never rejects. After a failure nothing is lost: the next try is when the log has grown by as much again. */
  async #compact(): Promise<void> {
    try {
      await this.#replaceLogs()
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#compactAboveBytes = this.#logBytes() + this.#allowedBytes()
      this.#compactionFailures += 1
      this.#lastCompactionError = describeFailure(error)
    }
  }

  async #replaceLogs(): Promise<void> {
    const { createSalt: newSalt, preallocateBytes } = this.#options
    const sequence = this.#log.sequence + 1
    const next = await LogFile.create(this.#disk, { sequence, salt: newSalt(), preallocateBytes })
    const { chunks, firstBatch } = await this.#continueIn(next)
    this.#snapshotBytes = await writeSnapshot(this.#disk, {
      sequence,
      firstBatch,
      salt: newSalt(),
      chunks,
      signal: this.#stop.signal,
      mayPublish: () => this.#commits.settledSoFar(),
    })
    this.#olderBytes = 0
    this.#compactAboveBytes = this.#allowedBytes()
    await removeOutdated(this.#disk, sequence)
    await this.#highWater.renew()
  }

  /** Takes the owner's state and leads later records to `next`, in one step; then waits for the rest. */
  async #continueIn(next: LogFile): Promise<Cut> {
    const previous = this.#log
    let cut: Cut
    try {
      this.#stop.signal.throwIfAborted()
      const chunks = this.#owner.snapshot()
      this.#commits.switchTo(next)
      cut = { chunks, firstBatch: this.#commits.nextNumber }
    } catch (error) {
      await next.close()
      throw error
    }
    this.#log = next
    try {
      await this.#commits.settledSoFar()
    } finally {
      await previous.close()
    }
    this.#olderBytes += previous.framesBytes
    return cut
  }
}

/** The system's code says what is wrong without saying where; its message names the file. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error as NodeJS.ErrnoException).code ?? error.message
}

/** The state at one moment, and the batch with which the log goes on from there. */
interface Cut {
  readonly chunks: Iterable<Uint8Array>
  readonly firstBatch: number
}
