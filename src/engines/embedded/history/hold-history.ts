import type {
  HistoryEnd,
  HistoryEntry,
  HistoryQuery,
  HistoryReply,
} from '../../../engine/queries.ts'
import type { Change, HoldEnded } from '../../../law/changes.ts'
import type { HoldEnd } from '../../../law/view.ts'
import type { Clock } from '../../../time/clock.ts'
import type { Disk } from '../journal/disk.ts'
import type { KeyState } from '../key-state.ts'
import { HistoryBook } from './history-book.ts'
import { HistoryFile } from './history-file.ts'

/** The ends that a history shows. The others undo grants that nobody had taken. */
const SHOWN: Readonly<Record<HoldEnd, HistoryEnd | undefined>> = {
  released: 'released',
  expired: 'expired',
  disconnected: 'disconnected',
  forced: 'forced',
  failed: 'failed',
  cancelled: undefined,
  unclaimed: undefined,
}

/** What the history of an engine on disk needs. */
export interface KeptHistoryOptions {
  readonly clock: Clock
  readonly defer: (run: () => void) => void
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
  static async open(disk: Disk, { clock, defer }: KeptHistoryOptions): Promise<HoldHistory> {
    const book = new HistoryBook()
    const file = await HistoryFile.open(disk, { defer, entries: () => book }, (entry) =>
      book.add(entry),
    )
    return new HoldHistory(clock, book, file)
  }

  /** Called with every decision, after its changes were applied. */
  note({ namespace, key }: KeyState, changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind !== 'hold-ended') continue
      const end = SHOWN[change.end]
      if (end !== undefined) this.#add({ namespace, key, end }, change)
    }
  }

  #add(about: Pick<HistoryEntry, 'namespace' | 'key' | 'end'>, { hold }: HoldEnded): void {
    const { owner, token, writes, sinceMs } = hold
    const toMs = Math.floor(this.#clock.wallMs())
    const fromMs = toMs - Math.max(0, Math.floor(this.#clock.nowMs()) - sinceMs)
    const mode = writes > 0 ? 'write' : 'read'
    const entry: HistoryEntry = { ...about, owner, mode, token, fromMs, toMs }
    this.#book.add(entry)
    this.#file?.append(entry)
  }

  read(query: HistoryQuery): HistoryReply {
    return { ends: this.#book.find(query, this.#clock.wallMs()) }
  }

  close(): Promise<void> {
    return this.#file?.close() ?? Promise.resolve()
  }
}
