import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { Ended, Verb } from '../../../law/model/view.ts'

/** Rows that nobody is told of any more and that stay where they are, until they are worth a statement. */
const STALE_MAX = 32

/** How a request ended, and its number among those of its key: the later, the higher. */
export interface NumberedEnd {
  readonly number: number
  readonly ended: Ended
}

/** What has to be written of the ends of a key. */
export interface EndsWritten {
  readonly added: readonly NumberedEnd[]
  /** Those with lower numbers leave the table; 0 for none. */
  readonly keptFrom: number
  /** How many are still to be told of. */
  readonly count: number
}

/**
 * The ends that a key remembers, oldest first. Each is a row that is written once: a key that is busy has
 * dozens of them, and to write them all with every release would be most of the work.
 */
export class EndsSnapshot {
  #stored: readonly NumberedEnd[] = []
  #added: Ended[] = []

  /** All there are in the table, in their order. */
  take(ends: readonly NumberedEnd[]): void {
    this.#stored = ends
  }

  add(ended: Ended): void {
    this.#added.push(ended)
  }

  find(verb: Verb, owner: string, requestId: string): Ended | undefined {
    return this.#findLast(
      (one) => one.verb === verb && one.requestId === requestId && one.owner === owner,
    )
  }

  lastOf(owner: string): Ended | undefined {
    return this.#findLast((one) => one.owner === owner && one.answer.kind === 'hold-ended')
  }

  #findLast(isMeant: (one: Ended) => boolean): Ended | undefined {
    const found = this.#added.slice(-ENDED_PER_KEY_MAX).findLast(isMeant)
    const others = ENDED_PER_KEY_MAX - this.#added.length
    if (found !== undefined || others <= 0) return found
    return this.#stored.slice(-others).findLast(({ ended }) => isMeant(ended))?.ended
  }

  /** When the last of them is forgotten; `null` if nothing is remembered. */
  untilMs(nowMs: number): number | null {
    const last = this.#added.at(-1) ?? this.#stored.at(-1)?.ended
    const untilMs = last === undefined ? 0 : last.atMs + ENDED_REMEMBERED_MS
    return untilMs > nowMs ? untilMs : null
  }

  /** `version` is that of the key after this transaction: no two have the same. */
  write(nowMs: number, version: number): EndsWritten {
    const { added, all, kept } = this.#number(nowMs, version)
    const stale = all.length - kept.length
    const next = (version + 1) * ENDED_PER_KEY_MAX
    const keptFrom = stale > STALE_MAX ? (kept[0]?.number ?? next) : 0
    return { added, keptFrom, count: kept.length }
  }

  /** All of it was written. */
  commit(nowMs: number, version: number): void {
    const { all, kept } = this.#number(nowMs, version)
    this.#stored = all.length - kept.length > STALE_MAX ? kept : all
    this.#added = []
  }

  #number(
    nowMs: number,
    version: number,
  ): { readonly [part in 'added' | 'all' | 'kept']: readonly NumberedEnd[] } {
    const first = version * ENDED_PER_KEY_MAX
    const added = this.#added
      .slice(-ENDED_PER_KEY_MAX)
      .map((ended, index) => ({ number: first + index, ended }))
    const all = added.length === 0 ? this.#stored : [...this.#stored, ...added]
    const isKept = ({ ended: { atMs } }: NumberedEnd): boolean => atMs + ENDED_REMEMBERED_MS > nowMs
    const last = all.slice(-ENDED_PER_KEY_MAX)
    const from = last.findIndex(isKept)
    return { added, all, kept: from === -1 ? [] : last.slice(from) }
  }
}
