import { toHistoryEnd } from '../../../engine/history-rules.ts'
import type { HistoryQuery, HistoryReply } from '../../../engine/queries.ts'
import type { Change, HoldEnded } from '../../../law/changes.ts'
import type { Clock } from '../../../time/clock.ts'
import type { Disk } from '../journal/disk.ts'
import type { KeyState } from '../key-state.ts'
import { HistoryBook } from './history-book.ts'
import { HistoryFile } from './history-file.ts'

/** When something was decided. */
export interface DecidedAt {
  /** Whole milliseconds on the clock of leases. */
  readonly nowMs: number
  /** Time of day. */
  readonly wallMs: number
}

/** Which holds there were: fed by every decision, read by people. */
export class HoldHistory {
  readonly #book: HistoryBook
  readonly #clock: Clock
  readonly #file: HistoryFile | undefined

  constructor(clock: Clock, book: HistoryBook = new HistoryBook(), file?: HistoryFile) {
    this.#clock = clock
    this.#book = book
    this.#file = file
  }

  /** One that is kept on a disk, with what is kept there already. Never rejects. */
  static async open(disk: Disk, clock: Clock): Promise<HoldHistory> {
    const book = new HistoryBook()
    const file = await HistoryFile.open(
      disk,
      { clock, visitAll: (visit) => book.visitAll(visit) },
      (entry) => book.add(entry),
    )
    return new HoldHistory(clock, book, file)
  }

  /** Called with every decision and its instants, after its changes were applied. */
  note(state: KeyState, changes: readonly Change[], at: DecidedAt): void {
    for (const change of changes) {
      if (change.kind === 'hold-ended') this.#add(state, change, at)
    }
  }

  #add({ namespace, key }: KeyState, ended: HoldEnded, { nowMs, wallMs }: DecidedAt): void {
    const end = toHistoryEnd(ended.end)
    if (end === undefined) return
    const { owner, token, writes, sinceMs } = ended.hold
    const toMs = Math.floor(wallMs)
    const fromMs = toMs - Math.max(0, nowMs - sinceMs)
    const mode = writes > 0 ? 'write' : 'read'
    this.#book.add({ namespace, key, owner, mode, token, fromMs, toMs, end })
    if (this.#file !== undefined) this.#book.visitNewest(this.#file.append)
  }

  read(query: HistoryQuery): HistoryReply {
    return { ends: this.#book.find(query, this.#clock.wallMs()) }
  }

  close(): Promise<void> {
    return this.#file?.close() ?? Promise.resolve()
  }
}
