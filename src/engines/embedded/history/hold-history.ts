import { toHistoryEnd } from '../../../engine/history-rules.ts'
import type { HistoryQuery, HistoryReply } from '../../../engine/queries.ts'
import type { Change, HoldEnded } from '../../../law/model/changes.ts'
import type { Clock } from '../../../time/clock.ts'
import type { Disk } from '../journal/disk.ts'
import type { KeyState } from '../table/key-state.ts'
import { HistoryFile } from './history-file.ts'
import { RecentEnds } from './recent-ends.ts'

/** When something was decided. */
export interface DecidedAt {
  /** Whole milliseconds on the clock of leases. */
  readonly nowMs: number
  /** Time of day. */
  readonly wallMs: number
}

/** Which holds there were: fed by every decision, read by people. */
export class HoldHistory {
  readonly #clock: Clock
  readonly #ends: RecentEnds
  readonly #file: HistoryFile | undefined

  constructor(clock: Clock, ends: RecentEnds = new RecentEnds(), file?: HistoryFile) {
    this.#clock = clock
    this.#ends = ends
    this.#file = file
  }

  /** One that is kept on a disk, with what is kept there already. Never rejects. */
  static async open(disk: Disk, clock: Clock): Promise<HoldHistory> {
    const ends = new RecentEnds()
    const file = await HistoryFile.open(disk, ends, clock)
    return new HoldHistory(clock, ends, file)
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
    const kept = this.#ends.add({ namespace, key, owner, mode, token, fromMs, toMs, end })
    this.#file?.add(kept)
  }

  read(query: HistoryQuery): HistoryReply {
    return { ends: this.#ends.find(query, this.#clock.wallMs()) }
  }

  close(): Promise<void> {
    return this.#file?.close() ?? Promise.resolve()
  }
}
