import { HISTORY_KEPT_MS, HISTORY_PER_KEY_MAX } from '../../../engine/history-rules.ts'
import type { HistoryEntry, HistoryQuery } from '../../../engine/queries.ts'
import { HISTORY_SHOWN } from '../../../engine/validation/query-limits.ts'
import type { Namespace } from '../../../law/view.ts'
import { RecordWriter } from '../record-writer.ts'
import { namespaceAt, readEntry, writeEntry } from './history-codec.ts'
import { HistoryKeys } from './history-keys.ts'
import { HISTORY_ENTRIES_MAX } from './history-limits.ts'
import { HistoryLog } from './history-log.ts'

export interface HistoryBookOptions {
  readonly perKeyMax?: number
  readonly entriesMax?: number
}

/** Told of the bytes of an entry, which stand in `bytes` from `start` up to, not including, `end`. */
export type EntryVisitor = (bytes: Buffer, start: number, end: number) => void

/**
 * The ends of holds, in memory, in the order in which they came. They are kept as bytes, because every
 * release adds one that stays for a while: as objects, they would be most of what the garbage collector
 * has to look at. Entries that a busy key has too many of stay in the log until there is no more room.
 */
export class HistoryBook {
  readonly #perKeyMax: number
  readonly #entriesMax: number
  readonly #writer = new RecordWriter()
  readonly #log = new HistoryLog()
  readonly #keys = new HistoryKeys()
  #size = 0

  constructor(options: HistoryBookOptions = {}) {
    this.#perKeyMax = options.perKeyMax ?? HISTORY_PER_KEY_MAX
    this.#entriesMax = options.entriesMax ?? HISTORY_ENTRIES_MAX
  }

  get size(): number {
    return this.#size
  }

  add(entry: HistoryEntry): void {
    const { toMs } = entry
    const keys = this.#keys
    const log = this.#log
    writeEntry(this.#writer, entry)
    if (!log.hasRoom(this.#writer.length)) this.#squeeze()
    const key = keys.take(entry.namespace, entry.key)
    const facts = { toMs, key, ordinal: keys.nextOrdinal(key), previousOfKey: keys.place(key) }
    keys.add(key, log.append(this.#writer, facts))
    if (keys.count(key) > this.#perKeyMax) keys.dropFirst(key)
    else this.#size += 1
    this.#dropOld(toMs - HISTORY_KEPT_MS)
  }

  /** Newest first. */
  find(query: HistoryQuery, wallMs: number): HistoryEntry[] {
    const { namespace, limit = HISTORY_SHOWN } = query
    const log = this.#log
    const sinceMs = wallMs - HISTORY_KEPT_MS
    const found: HistoryEntry[] = []
    for (const at of this.#newestFirst(query)) {
      if (found.length === limit) break
      const isMeant = namespace === undefined || namespace === this.#namespaceAt(at)
      if (!isMeant || log.toMs(at) <= sinceMs) continue
      const entry = readEntry(log.bytes.subarray(log.startOf(at), log.endOf(at)))
      if (entry !== undefined) found.push(entry)
    }
    return found
  }

  /** Visits the entry that was added last. */
  visitNewest(visit: EntryVisitor): void {
    this.#visit(this.#log.last, visit)
  }

  /** Visits every entry, oldest first. */
  visitAll(visit: EntryVisitor): void {
    const log = this.#log
    for (let at = log.first; at < log.end; at = log.next(at)) {
      if (this.#counts(at)) this.#visit(at, visit)
    }
  }

  #visit(at: number, visit: EntryVisitor): void {
    const log = this.#log
    visit(log.bytes, log.startOf(at), log.endOf(at))
  }

  #newestFirst({ key }: HistoryQuery): Iterable<number> {
    if (key === undefined) return this.#allNewestFirst()
    const places = [...this.#placesOf('lock', key), ...this.#placesOf('operation', key)]
    return places.sort((one, other) => other - one)
  }

  *#allNewestFirst(): Iterable<number> {
    const log = this.#log
    if (log.isEmpty) return
    for (let at = log.last; ; at = log.previous(at)) {
      if (this.#counts(at)) yield at
      if (at === log.first) return
    }
  }

  *#placesOf(namespace: Namespace, name: string): Iterable<number> {
    const key = this.#keys.find(namespace, name)
    if (key === undefined) return
    let at = this.#keys.place(key)
    for (let left = this.#keys.count(key); left > 0; left -= 1) {
      yield at
      at = this.#log.previousOfKey(at)
    }
  }

  #counts(at: number): boolean {
    return this.#keys.counts(this.#log.key(at), this.#log.ordinal(at))
  }

  #namespaceAt(at: number): Namespace {
    return namespaceAt(this.#log.bytes, this.#log.startOf(at))
  }

  /** The oldest go: those of which there are too many, and those that are too old. */
  #dropOld(sinceMs: number): void {
    const log = this.#log
    while (!log.isEmpty) {
      const at = log.first
      const counts = this.#counts(at)
      if (counts && this.#size <= this.#entriesMax && log.toMs(at) > sinceMs) return
      if (counts) this.#drop(at)
      log.dropFirst()
    }
  }

  #drop(at: number): void {
    const key = this.#log.key(at)
    this.#keys.dropFirst(key)
    this.#size -= 1
    if (this.#keys.count(key) === 0) this.#keys.forget(this.#namespaceAt(at), key)
  }

  #squeeze(): void {
    const keys = this.#keys
    this.#log.squeeze(this.#writer.length, (key, ordinal, place) => {
      if (!keys.counts(key, ordinal)) return -1
      const previous = keys.place(key)
      keys.move(key, place)
      return previous
    })
  }
}
