import type { WatchFilter, Watching, WatchListener } from '../../engine/engine.ts'
import { Watchers } from '../../engine/watchers.ts'
import type { LawEvent } from '../../law/events.ts'
import type { Clock } from '../../time/clock.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { Transactor } from './transactor.ts'

/** For how long events are written after somebody last said that they watch, and how long they are kept. */
export const WATCHED_MS = 60_000

/** A number that was given out and not seen for this long will not be seen any more. */
const GAP_MS = 5_000

export interface EventFeedOptions {
  readonly transactor: Transactor
  readonly clock: DatabaseClock
  /** Runs as that of the database does. */
  readonly timers: Clock
  /** Told whether anyone here watches. */
  readonly onInterest: (isWatched: boolean) => void
}

/**
 * What watchers are told, whichever process it happened in. Transactions write their events into a table;
 * every process that watches reads it on.
 *
 * Numbers are given out before their transactions commit, so a later one may be seen first. What comes
 * late is told late; on one key that cannot happen, because its transactions follow each other.
 */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #watchers: Watchers
  /** Everything up to here was seen or will never come. */
  #upTo = 0
  readonly #seen = new Set<number>()
  #gapSinceMs: number | undefined
  #lastReadMs = 0
  #renewAtMs = 0
  #reading: Promise<void> | undefined
  #isMore = false

  constructor(options: EventFeedOptions) {
    this.#options = options
    this.#watchers = new Watchers((isEmpty) => options.onInterest(!isEmpty))
  }

  get isWatched(): boolean {
    return !this.#watchers.isEmpty
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    if (this.#watchers.isEmpty) await this.#start()
    return this.#watchers.add(filter, listener)
  }

  /** From now on events are written, and those before are nobody's. */
  async #start(): Promise<void> {
    await this.#announce()
    const row = await this.#options.transactor.run((db) =>
      db
        .selectFrom('holdfast_events')
        .select((eb) => eb.fn.max<number | null>('id').as('last'))
        .executeTakeFirstOrThrow(),
    )
    this.#upTo = Number(row.last ?? 0)
    this.#seen.clear()
    this.#gapSinceMs = undefined
    this.#lastReadMs = this.#options.timers.nowMs()
  }

  async #announce(): Promise<void> {
    const { transactor, clock } = this.#options
    await transactor.write(async (db) => {
      const untilMs = (await clock.nowMs(db)) + WATCHED_MS
      await db
        .updateTable('holdfast_state')
        .set({ watched_until_ms: untilMs })
        .where('id', '=', 1)
        .where('watched_until_ms', '<', untilMs)
        .execute()
    })
    this.#renewAtMs = this.#options.timers.nowMs() + WATCHED_MS / 3
  }

  /** Read what is new. One reading at a time; who asks during one gets another. */
  read(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#isMore = true
      return this.#reading
    }
    this.#reading = this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readAll(): Promise<void> {
    do {
      this.#isMore = false
      if (this.#watchers.isEmpty) return
      if (this.#options.timers.nowMs() > this.#renewAtMs) await this.#announce()
      await this.#readOnce()
    } while (this.#isMore)
  }

  async #readOnce(): Promise<void> {
    const nowMs = this.#options.timers.nowMs()
    const isTooLate = nowMs - this.#lastReadMs > WATCHED_MS / 2
    this.#lastReadMs = nowMs
    if (isTooLate) {
      await this.#start()
      this.#watchers.tellReset(this.#options.timers.wallMs())
      return
    }
    const rows = await this.#options.transactor.run((db) =>
      db
        .selectFrom('holdfast_events')
        .selectAll()
        .where('id', '>', this.#upTo)
        .orderBy('id')
        .execute(),
    )
    for (const { id, at_ms: atMs, body } of rows) {
      if (this.#seen.has(id)) continue
      this.#seen.add(id)
      this.#watchers.tell([JSON.parse(body) as LawEvent], atMs)
    }
    this.#moveOn(nowMs)
  }

  #moveOn(nowMs: number): void {
    while (this.#seen.delete(this.#upTo + 1)) {
      this.#upTo += 1
      this.#gapSinceMs = undefined
    }
    if (this.#seen.size === 0) return
    this.#gapSinceMs ??= nowMs
    if (nowMs - this.#gapSinceMs < GAP_MS) return
    this.#upTo = Math.min(...this.#seen) - 1
    this.#gapSinceMs = undefined
    this.#moveOn(nowMs)
  }

  close(): void {
    this.#watchers.clear()
  }
}
