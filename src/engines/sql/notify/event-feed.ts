import type { WatchFilter, Watching, WatchListener } from '../../../engine/engine.ts'
import { Watchers } from '../../../engine/watchers.ts'
import type { LawEvent } from '../../../law/model/events.ts'
import type { Clock } from '../../../time/clock.ts'
import type { Transactor } from '../commit/transactor.ts'
import { WATCHED_MS, type WatchNotice } from './watch-notice.ts'

/** A number that was given out and not seen for this long will not be seen any more. */
const GAP_MS = 5_000

export interface EventFeedOptions {
  readonly transactor: Transactor
  readonly notice: WatchNotice
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
  #isRenewing = false
  #starting: Promise<void> | undefined
  #reading: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(options: EventFeedOptions) {
    this.#options = options
    this.#watchers = new Watchers((isEmpty) => options.onInterest(!isEmpty))
  }

  get isWatched(): boolean {
    return !this.#watchers.isEmpty
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    // What was before is for those who were there.
    if (!this.#watchers.isEmpty) await this.read()
    else {
      this.#starting ??= this.#startAnew().finally(() => {
        this.#starting = undefined
      })
      await this.#starting
    }
    return this.#watchers.add(filter, listener)
  }

  /** A reading for those who have left must not go on in what begins now. */
  async #startAnew(): Promise<void> {
    await this.read().catch(() => {})
    await this.#start()
  }

  /** From now on events are written, and those before are nobody's. */
  async #start(): Promise<void> {
    const { notice, timers } = this.#options
    this.#upTo = await notice.begin()
    this.#seen.clear()
    this.#gapSinceMs = undefined
    this.#lastReadMs = timers.nowMs()
    this.#renewAtMs = timers.nowMs() + WATCHED_MS / 3
  }

  /** Nobody waits for it: others may stand in its way, and it is in time the next time as well. */
  async #renew(): Promise<void> {
    const { notice, timers } = this.#options
    if (this.#isRenewing || timers.nowMs() <= this.#renewAtMs) return
    this.#isRenewing = true
    try {
      await notice.renew()
      this.#renewAtMs = timers.nowMs() + WATCHED_MS / 3
    } catch {
      // The database is away, and whoever reads on is told.
    } finally {
      this.#isRenewing = false
    }
  }

  /** Resolves when everything was told that had happened before. One reading at a time. */
  read(): Promise<void> {
    if (this.#next !== undefined) return this.#next
    if (this.#reading === undefined) {
      this.#reading = this.#readAll().finally(() => {
        this.#reading = undefined
      })
      return this.#reading
    }
    // The one under way may have begun too early.
    this.#next = this.#reading
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.read()
      })
    return this.#next
  }

  async #readAll(): Promise<void> {
    if (this.#watchers.isEmpty) return
    void this.#renew()
    await this.#readOnce()
  }

  async #readOnce(): Promise<void> {
    const nowMs = this.#options.timers.nowMs()
    if (nowMs - this.#lastReadMs > WATCHED_MS / 2) {
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
    this.#lastReadMs = nowMs
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
