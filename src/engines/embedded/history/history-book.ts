import type { HistoryEntry, HistoryQuery } from '../../../engine/queries.ts'
import {
  HISTORY_ENTRIES_MAX,
  HISTORY_KEPT_MS,
  HISTORY_PER_KEY_MAX,
  HISTORY_SHOWN,
} from './history-limits.ts'

export interface HistoryBookOptions {
  readonly perKeyMax?: number
  readonly entriesMax?: number
}

/**
 * The ends of holds, in memory, in the order in which they came. Each key has its own list beside, so
 * that its ends are found at once and the oldest of a busy key go without a search. Where such an end
 * stood in the common list, a hole stays until there are more holes than ends.
 */
export class HistoryBook {
  readonly #perKeyMax: number
  readonly #entriesMax: number
  readonly #keys = new Map<string, HistoryEntry[]>()
  #all: (HistoryEntry | undefined)[] = []
  /** Where each entry stands in the common list. */
  readonly #places = new Map<HistoryEntry, number>()
  #first = 0

  constructor(options: HistoryBookOptions = {}) {
    this.#perKeyMax = options.perKeyMax ?? HISTORY_PER_KEY_MAX
    this.#entriesMax = options.entriesMax ?? HISTORY_ENTRIES_MAX
  }

  get size(): number {
    return this.#places.size
  }

  add(entry: HistoryEntry): void {
    const name = nameOf(entry)
    const ofKey = this.#keys.get(name)
    if (ofKey === undefined) this.#keys.set(name, [entry])
    else ofKey.push(entry)
    this.#places.set(entry, this.#all.length)
    this.#all.push(entry)
    const oldest = ofKey !== undefined && ofKey.length > this.#perKeyMax ? ofKey[0] : undefined
    if (oldest !== undefined) this.#drop(oldest)
    if (this.size > this.#entriesMax) this.#dropFirst()
    this.#dropOlderThan(entry.toMs - HISTORY_KEPT_MS)
    if (this.#all.length > 2 * this.size + this.#perKeyMax) this.#close()
  }

  /** Newest first. */
  find(query: HistoryQuery, wallMs: number): HistoryEntry[] {
    const sinceMs = wallMs - HISTORY_KEPT_MS
    const found: HistoryEntry[] = []
    for (const entry of this.#newestFirst(query)) {
      if (found.length === (query.limit ?? HISTORY_SHOWN)) break
      const isMeant = query.namespace === undefined || entry.namespace === query.namespace
      if (isMeant && entry.toMs > sinceMs) found.push(entry)
    }
    return found
  }

  *#newestFirst({ key }: HistoryQuery): Iterable<HistoryEntry> {
    if (key !== undefined) {
      const ends = [
        ...(this.#keys.get(nameOf({ namespace: 'lock', key })) ?? []),
        ...(this.#keys.get(nameOf({ namespace: 'operation', key })) ?? []),
      ]
      const place = (entry: HistoryEntry): number => this.#places.get(entry) ?? 0
      yield* ends.sort((one, other) => place(other) - place(one))
      return
    }
    for (let index = this.#all.length - 1; index >= this.#first; index -= 1) {
      const entry = this.#all[index]
      if (entry !== undefined) yield entry
    }
  }

  /** Oldest first. */
  *[Symbol.iterator](): Iterator<HistoryEntry> {
    for (const entry of this.#all) if (entry !== undefined) yield entry
  }

  #drop(entry: HistoryEntry): void {
    const name = nameOf(entry)
    const ofKey = this.#keys.get(name)
    // Both lists are in the same order, so what goes is the first of its key.
    ofKey?.shift()
    if (ofKey?.length === 0) this.#keys.delete(name)
    const place = this.#places.get(entry)
    if (place !== undefined) this.#all[place] = undefined
    this.#places.delete(entry)
  }

  #dropFirst(): void {
    const first = this.#oldest()
    if (first !== undefined) this.#drop(first)
  }

  #dropOlderThan(sinceMs: number): void {
    for (let first = this.#oldest(); first !== undefined; first = this.#oldest()) {
      if (first.toMs > sinceMs) return
      this.#drop(first)
    }
  }

  #oldest(): HistoryEntry | undefined {
    while (this.#first < this.#all.length && this.#all[this.#first] === undefined) this.#first += 1
    return this.#all[this.#first]
  }

  /** Close the holes. */
  #close(): void {
    this.#all = [...this]
    this.#first = 0
    this.#places.clear()
    for (const [index, entry] of this.#all.entries()) {
      if (entry !== undefined) this.#places.set(entry, index)
    }
  }
}

/** No name has control characters. */
function nameOf({ namespace, key }: Pick<HistoryEntry, 'namespace' | 'key'>): string {
  return `${namespace}\n${key}`
}
