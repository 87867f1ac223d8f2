import type { LockError } from '../../../engine/errors/errors.ts'
import { assertRecordFits, FrameBuilder } from './frame-builder.ts'
import { isOutOfRoom, toOutOfRoom, toWriteFailed } from './journal-errors.ts'
import { BATCH_FULL_BYTES, POOLED_BUFFER_BYTES } from './journal-limits.ts'
import type { LogFile } from './log-file.ts'

export interface CommitQueueOptions {
  readonly log: LogFile
  /** Number for the first batch. */
  readonly nextNumber: number
  /** Runs a function when the current turn of the event loop is over. */
  readonly defer: (run: () => void) => void
  /** Called before each batch is written; it waits for the promise, if there is one. */
  readonly beforeWrite: () => Promise<void> | null
  /** Called after each batch became durable. */
  readonly onCommitted: () => void
  /** Called once, when a write or a sync has failed for good. */
  readonly onFailed: () => void
  /** Called when there is no room for a batch, before any caller hears of it. */
  readonly onFull: (error: LockError) => void
}

/** Most appends fit; it grows with the load, and then stays as large as it had to be. */
const FIRST_BUFFER_BYTES = 4096
/** To answer so many takes about as long as a sync; to answer fewer is no time to speak of. */
const MANY_RECORDS = 16
/** One batch is in flight while another gathers. */
const POOLED_BUFFERS = 2

/** Records that are written and synced together, and the one promise that all of them share. */
class Batch {
  readonly log: LogFile
  readonly frame: FrameBuilder
  /** What callers wait for: it rejects when there is no room, although the batch is written later. */
  readonly answered: Settling = createSettling()
  /** What the journal itself waits for: it rejects only when the batch is never written. */
  readonly durable: Settling = createSettling()

  constructor(log: LogFile, number: number, buffer: Buffer) {
    this.log = log
    this.frame = new FrameBuilder({ number, salt: log.salt, buffer })
  }
}

interface Settling {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

function createSettling(): Settling {
  let resolve!: () => void
  let reject!: (error: Error) => void
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // A caller may append a record and not wait for it; that must not end the process.
  promise.catch(() => {})
  return { promise, resolve, reject }
}

/**
 * Group commit. Records gather in a batch; the batch is closed at the end of the turn, or later
 * when one is still in flight, and then written and synced as a whole. Batches are numbered in
 * order, and one is written only after the one before was synced: recovery relies on that.
 *
 * After a sync, the next batch waits for the end of the turn: whoever was just answered may append
 * again, and a sync costs the same for one record as for a hundred. Where people have been seen not to
 * do so, because they are on the other side of a network, a batch that has gathered much is written at
 * once, and the disk is at work while they are answered.
 *
 * When there is no room for a batch, the callers of it and of all that were appended meanwhile are told that it
 * may be applied, and the batches are kept: `retry` writes them, whole and at the same place, so that nothing
 * of the first attempt matters. Until then no record is taken. Any other failure is final, because it is not known
 * what the disk has.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #pump = (): void => void this.#writeNext()
  readonly #buffers: Buffer[] = []
  /** Batches that take no more records, oldest first; the first one may be in flight. */
  readonly #closed: Batch[] = []
  #gathering: Batch | null = null
  #isPumping = false
  #log: LogFile
  #nextNumber: number
  #durableNumber: number
  #failure: LockError | null = null
  #full: LockError | null = null
  #retrying: Promise<boolean> | null = null
  #syncs = 0
  #bytes = 0
  #appended = 0
  /** How many records were appended in the turn in which the latest batch was answered. */
  #cameBack = Number.POSITIVE_INFINITY

  constructor(options: CommitQueueOptions) {
    this.#options = options
    this.#log = options.log
    this.#nextNumber = options.nextNumber
    this.#durableNumber = options.nextNumber - 1
  }

  /** Number for the next batch that begins. */
  get nextNumber(): number {
    return this.#nextNumber
  }

  /** Number of the last batch that is durable. */
  get durableNumber(): number {
    return this.#durableNumber
  }

  get failure(): LockError | null {
    return this.#failure
  }

  /** Why no record is taken for now: there is no room for those that are kept. */
  get full(): LockError | null {
    return this.#full
  }

  /** How many batches became durable, and how many bytes they had. */
  get written(): { readonly syncs: number; readonly bytes: number } {
    return { syncs: this.#syncs, bytes: this.#bytes }
  }

  /** Adds a record and returns the promise that all records of its batch share. */
  append(record: Uint8Array): Promise<void> {
    assertRecordFits(record)
    const refused = this.#failure ?? this.#full
    if (refused !== null) return refusal(refused)
    const batch = this.#gathering ?? this.#begin()
    batch.frame.add(record)
    this.#appended += 1
    if (batch.frame.byteLength >= BATCH_FULL_BYTES) this.#closeGathering()
    return batch.answered.promise
  }

  /** Writes a batch without records; when it is durable it proves that all before it were. */
  appendEmpty(): Promise<void> {
    const refused = this.#failure ?? this.#full
    if (refused !== null) return refusal(refused)
    this.#closeGathering()
    const batch = this.#begin()
    this.#closeGathering()
    return batch.answered.promise
  }

  /** Resolves when every record appended so far is durable. */
  settledSoFar(): Promise<void> {
    if (this.#failure !== null) return refusal(this.#failure)
    return (this.#gathering ?? this.#closed.at(-1))?.durable.promise ?? Promise.resolve()
  }

  /** From the next record on, batches go to this log; what was appended before goes to the old one. */
  switchTo(log: LogFile): void {
    this.#closeGathering()
    this.#log = log
  }

  /** Writes what was kept when there was no room. Resolves with whether records are taken again. */
  retry(): Promise<boolean> {
    this.#retrying ??= this.#retry().finally(() => {
      this.#retrying = null
    })
    return this.#retrying
  }

  async #retry(): Promise<boolean> {
    if (this.#full === null) return this.#failure === null
    try {
      for (let batch = this.#closed[0]; batch !== undefined; batch = this.#closed[0]) {
        await this.#write(batch)
        batch.durable.resolve()
      }
    } catch (error) {
      if (!isOutOfRoom(error)) this.#fail(error)
      return false
    }
    this.#full = null
    this.#isPumping = false
    this.#options.onCommitted()
    return true
  }

  /** What is kept for want of room is given up. */
  giveUp(): void {
    if (this.#full !== null) this.#fail(this.#full.cause)
  }

  #begin(): Batch {
    const buffer = this.#buffers.pop() ?? Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES)
    this.#gathering = new Batch(this.#log, this.#nextNumber++, buffer)
    if (!this.#isPumping) {
      this.#isPumping = true
      this.#options.defer(this.#pump)
    }
    return this.#gathering
  }

  #closeGathering(): void {
    if (this.#gathering === null) return
    this.#closed.push(this.#gathering)
    this.#gathering = null
  }

  async #writeNext(): Promise<void> {
    if (this.#closed.length === 0) this.#closeGathering()
    const batch = this.#closed[0]
    if (batch === undefined) {
      this.#isPumping = false
      return
    }
    try {
      await this.#write(batch)
    } catch (error) {
      if (isOutOfRoom(error)) this.#waitForRoom(error)
      else this.#fail(error)
      return
    }
    const isNextDue = this.#isNextDue()
    if (isNextDue) void this.#writeNext()
    batch.answered.resolve()
    batch.durable.resolve()
    this.#options.onCommitted()
    const before = this.#appended
    this.#options.defer(() => {
      this.#cameBack = this.#appended - before
      if (!isNextDue) this.#pump()
    })
  }

  async #write(batch: Batch): Promise<void> {
    const frame = batch.frame.seal()
    const covered = this.#options.beforeWrite()
    if (covered !== null) await covered
    await batch.log.append(frame)
    this.#durableNumber = batch.frame.number
    this.#syncs += 1
    this.#bytes += frame.length
    this.#closed.shift()
    this.#recycle(batch.frame.buffer)
  }

  /** Whether the next batch would not become much fuller by those who are about to be answered. */
  #isNextDue(): boolean {
    const gathered = this.#gathering?.frame.count ?? 0
    const isMuch = gathered >= MANY_RECORDS && this.#cameBack < gathered / 2
    return this.#closed.length > 0 || isMuch
  }

  #recycle(buffer: Buffer): void {
    const isWorthKeeping = buffer.length <= POOLED_BUFFER_BYTES
    if (isWorthKeeping && this.#buffers.length < POOLED_BUFFERS) this.#buffers.push(buffer)
  }

  #waitForRoom(cause: unknown): void {
    this.#full = toOutOfRoom(cause, 'no')
    this.#closeGathering()
    this.#options.onFull(this.#full)
    for (const batch of this.#closed) batch.answered.reject(toOutOfRoom(cause, 'maybe'))
  }

  #fail(cause: unknown): void {
    this.#failure = toWriteFailed(cause, 'no')
    this.#full = null
    this.#closeGathering()
    const [inFlight, ...unwritten] = this.#closed.splice(0)
    inFlight?.answered.reject(toWriteFailed(cause, 'maybe'))
    for (const batch of unwritten) batch.answered.reject(this.#failure)
    for (const batch of [inFlight, ...unwritten]) batch?.durable.reject(this.#failure)
    this.#options.onFailed()
  }
}

/** A rejection that does not end the process when nobody waits for it. */
export function refusal(error: Error): Promise<never> {
  const rejected = Promise.reject(error)
  rejected.catch(() => {})
  return rejected
}
