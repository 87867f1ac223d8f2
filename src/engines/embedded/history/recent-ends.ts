import { HISTORY_KEPT_MS, HISTORY_PER_KEY_MAX } from '../../../engine/history-rules.ts'
import type { HistoryEntry, HistoryQuery } from '../../../engine/queries.ts'
import { HISTORY_SHOWN } from '../../../engine/validation/query-limits.ts'
import { HISTORY_ENTRIES_MAX } from './history-limits.ts'

export interface RecentEndsOptions {
  readonly perKeyMax?: number
  readonly entriesMax?: number
}

/** What all ends of one key have in common: how many there were, and how many of them are kept. */
interface KeyEnds extends Pick<HistoryEntry, 'namespace' | 'key'> {
  latest: number
  kept: number
}

/** An end as it is kept: small, because every release makes one that stays for a while. */
export interface KeptEnd extends Pick<HistoryEntry, 'owner' | 'mode' | 'token' | 'toMs' | 'end'> {
  readonly of: KeyEnds
  /** Its number among the ends of its key. */
  readonly ordinal: number
  readonly heldMs: number
}

/** With fewer ends that are no longer kept the array is not worth tidying. */
const TIDY_MIN = 1024

/**
 * The ends of holds, in memory, in the order in which they came. An end of which its key has too many by now
 * stays in the array, and is passed over, until it is the oldest or until half of the array is no longer kept.
 */
export class RecentEnds {
  readonly #perKeyMax: number
  readonly #entriesMax: number
  readonly #keys = { lock: new Map<string, KeyEnds>(), operation: new Map<string, KeyEnds>() }
  #ends: (KeptEnd | undefined)[] = []
  /** Index of the oldest end in the array. */
  #start = 0
  #size = 0

  constructor(options: RecentEndsOptions = {}) {
    this.#perKeyMax = options.perKeyMax ?? HISTORY_PER_KEY_MAX
    this.#entriesMax = options.entriesMax ?? HISTORY_ENTRIES_MAX
  }

  /** How many ends are kept. */
  get size(): number {
    return this.#size
  }

  add({ namespace, key, owner, mode, token, fromMs, toMs, end }: HistoryEntry): KeptEnd {
    let of = this.#keys[namespace].get(key)
    if (of === undefined) {
      of = { namespace, key, latest: 0, kept: 0 }
      this.#keys[namespace].set(key, of)
    }
    of.latest += 1
    if (of.kept < this.#perKeyMax) {
      of.kept += 1
      this.#size += 1
    }
    const kept = { of, ordinal: of.latest, owner, mode, token, toMs, heldMs: toMs - fromMs, end }
    this.#ends.push(kept)
    this.#dropOld(toMs - HISTORY_KEPT_MS)
    if (this.#ends.length > TIDY_MIN + 2 * this.#size) {
      this.#ends = this.all()
      this.#start = 0
    }
    return kept
  }

  /** Newest first. */
  find(query: Omit<HistoryQuery, 'kind'>, wallMs: number): HistoryEntry[] {
    const { key, namespace, limit = HISTORY_SHOWN } = query
    const found: HistoryEntry[] = []
    for (let at = this.#ends.length - 1; at >= this.#start && found.length < limit; at -= 1) {
      const kept = this.#ends[at]
      if (kept === undefined || !this.#isKept(kept)) continue
      if (key !== undefined && key !== kept.of.key) continue
      if (namespace !== undefined && namespace !== kept.of.namespace) continue
      if (kept.toMs > wallMs - HISTORY_KEPT_MS) found.push(toHistoryEntry(kept))
    }
    return found
  }

  /** Every end that is kept, oldest first. */
  all(): KeptEnd[] {
    return this.#ends.filter((kept) => kept !== undefined && this.#isKept(kept)) as KeptEnd[]
  }

  /** Whether its key has not had too many ends since. */
  #isKept({ of, ordinal }: KeptEnd): boolean {
    return of.latest - ordinal < this.#perKeyMax
  }

  /** The oldest go: those of which there are too many, and those that are too old. */
  #dropOld(sinceMs: number): void {
    for (;;) {
      const oldest = this.#ends[this.#start]
      if (oldest === undefined) return
      const isKept = this.#isKept(oldest)
      if (isKept && this.#size <= this.#entriesMax && oldest.toMs > sinceMs) return
      this.#ends[this.#start] = undefined
      this.#start += 1
      if (isKept) this.#drop(oldest.of)
    }
  }

  #drop(of: KeyEnds): void {
    this.#size -= 1
    of.kept -= 1
    if (of.kept === 0) this.#keys[of.namespace].delete(of.key)
  }
}

export function toHistoryEntry(kept: KeptEnd): HistoryEntry {
  const { owner, mode, token, toMs, end } = kept
  const { namespace, key } = kept.of
  return { namespace, key, owner, mode, token, fromMs: toMs - kept.heldMs, toMs, end }
}
