import type {
  HistoryAnswer,
  HistoryCall,
  HistoryEntry,
  HistoryMark,
  HistoryRecord,
} from './history.ts'

/**
 * Two records never share an instant: a stamp that would equal the one before is moved on by this
 * much. So what happened one after the other is known to have done so even where the clock stands
 * still. Lease arithmetic rounds stamps down to whole milliseconds, which allows 65,535 records
 * within one.
 */
const STAMP_STEP_MS = 2 ** -16

/** Writes down a history as it happens. */
export class HistoryRecorder {
  readonly #nowMs: () => number
  readonly #records: (HistoryMark | PendingEntry)[] = []
  #lastStampMs = -Infinity
  #calls = 0

  /** The clock must be the same for everything that goes into one history. */
  constructor(clock: { nowMs(): number }) {
    this.#nowMs = () => clock.nowMs()
  }

  /** To be called just before the request is sent. */
  call(call: HistoryCall): PendingCall {
    const pending: PendingEntry = { kind: 'op', id: this.#calls++, ...call, call: this.#stamp() }
    this.#records.push(pending)
    return new PendingCall(pending, () => this.#stamp())
  }

  mark(name: string, fields: Omit<HistoryMark, 'kind' | 'name' | 'at'> = {}): void {
    this.#records.push({ kind: 'mark', name, at: this.#stamp(), ...fields })
  }

  /** Everything so far. An operation without an answer yet is in it as `info`. */
  history(): HistoryRecord[] {
    return this.#records.map((record) =>
      record.kind === 'mark' ? record : { outcome: 'info', ret: Infinity, ...record },
    )
  }

  #stamp(): number {
    this.#lastStampMs = Math.max(this.#nowMs(), this.#lastStampMs + STAMP_STEP_MS)
    return this.#lastStampMs
  }
}

/**
 * The rest of one entry. Exactly one of `ok`, `fail` and `info` is called, at the moment the client
 * learns how its operation went; `queued` may come before it.
 */
export class PendingCall {
  readonly #entry: PendingEntry
  readonly #stamp: () => number

  constructor(entry: PendingEntry, stamp: () => number) {
    this.#entry = entry
    this.#stamp = stamp
  }

  /** The operation waits in the queue. Only the first time counts, and not after its answer. */
  queued(position?: number): void {
    if (this.#entry.queuedAt !== undefined || this.#entry.outcome !== undefined) return
    this.#entry.queuedAt = this.#stamp()
    if (position !== undefined) this.#entry.position = position
  }

  ok(answer: HistoryAnswer = {}): void {
    this.#end('ok', this.#stamp(), answer)
  }

  /** Refused: it is certain that it changed nothing. */
  fail(code: string, answer: HistoryAnswer = {}): void {
    this.#end('fail', this.#stamp(), { ...answer, code })
  }

  /** Time-out, reset, crash: it may have been applied, now or later, or not at all. */
  info(code?: string): void {
    this.#end('info', Infinity, code === undefined ? {} : { code })
  }

  #end(outcome: HistoryEntry['outcome'], ret: number, answer: HistoryAnswer): void {
    if (this.#entry.outcome !== undefined) {
      throw new Error(`operation ${this.#entry.id} already has its answer`)
    }
    Object.assign(this.#entry, { outcome, ret }, answer)
  }
}

type PendingEntry = Writable<Omit<HistoryEntry, 'outcome' | 'ret'>> & {
  outcome?: HistoryEntry['outcome']
  ret?: number
}

type Writable<Type> = { -readonly [Field in keyof Type]: Type[Field] }
