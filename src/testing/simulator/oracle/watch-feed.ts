import type { LockEngine, WatchEvent, WatchFilter } from '../../../engine/engine.ts'
import { isLockError } from '../../../engine/errors/errors.ts'
import type { Clock } from '../../../time/clock.ts'
import type { EventPlace, WatchBoard } from './watch-board.ts'

/**
 * What is sent to a watcher. Number 0 says where its watch begins, the following ones are the events; one
 * without either says how many there were, so that the loss of the last one is noticed too.
 */
export interface FeedMessage {
  readonly number: number
  readonly place?: EventPlace | undefined
  readonly event?: WatchEvent | undefined
}

/** A watch as whoever serves it has it. */
export interface WatchFeed {
  readonly filter: WatchFilter
  /** Whether it is known that nobody listens any more. */
  isOver(): boolean
  send(message: FeedMessage): void
}

/** How often a watcher is told how many events there were. */
const MARK_MS = 1_000

export interface FeedSource {
  readonly engine: LockEngine
  /** The engine's. */
  readonly clock: Clock
  readonly board: WatchBoard
}

/** Sends every event from now on, for as long as somebody listens. */
export async function feedWatch(
  { engine, clock, board }: FeedSource,
  feed: WatchFeed,
): Promise<void> {
  let last = 0
  let isOpen = false
  try {
    const watching = await engine.watch(feed.filter, (event) => {
      if (!isOpen || feed.isOver()) return
      last += 1
      feed.send({ number: last, event })
    })
    isOpen = true
    feed.send({ number: 0, place: board.here() })
    const mark = (): void => {
      if (feed.isOver()) return void watching.close()
      feed.send({ number: last })
      clock.setTimer(MARK_MS, mark)
    }
    clock.setTimer(MARK_MS, mark)
  } catch (error) {
    // An engine that stops tells nobody; the watcher hears nothing and comes back.
    if (!isLockError(error)) throw error
  }
}
