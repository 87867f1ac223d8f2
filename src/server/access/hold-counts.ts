import type { LockEngine, WatchEvent } from '../../engine/engine.ts'
import type { EventKind } from '../../law/events.ts'
import type { KnownNames } from './principal-view.ts'

export interface HoldCountsOptions {
  readonly engine: LockEngine
  /** The principals; absent where auth is off and everything is nobody's in particular. */
  readonly names: KnownNames | undefined
  readonly nowMs: () => number
}

/** Counting anew may take a twentieth of the time, however many holds there are. */
const REST_FACTOR = 20
const PAGE = 1_000

interface Count {
  /** Never lower than the number of holds: a hold of several steps may count for each. */
  steps: number
  /** Requests that have been let through and not been answered yet. */
  asking: number
  recount: Promise<void> | undefined
  /** Not counted anew before this. */
  restsUntilMs: number
}

/**
 * How many holds each principal has, for the limit. Kept as a bound that events move up and down; only
 * where the bound reaches the limit are the holds counted, and then not all the time.
 */
export class HoldCounts {
  readonly #options: HoldCountsOptions
  readonly #counts = new Map<string, Count>()
  /** Of the one without a name, where auth is off. */
  readonly #anybody: Count = createCount(0)
  #before = 0

  constructor(options: HoldCountsOptions) {
    this.#options = options
  }

  /** What was held before the server started might be anybody's. */
  async open(): Promise<void> {
    this.#before = (await this.#options.engine.read({ kind: 'stats' })).holds
    this.#anybody.steps += this.#before
  }

  hear(event: WatchEvent): void {
    if (event.kind === 'reset') return
    const change = changeOf(event.kind, event.token)
    if (change === 0) return
    const count = this.#countOf(event.node ?? event.owner)
    if (count !== undefined) count.steps = Math.max(0, count.steps + change)
  }

  /** Whether there is room for another hold beside those that have been asked for. */
  async hasRoom(name: string | undefined, limit: number): Promise<boolean> {
    const count = this.#of(name)
    if (count.steps + count.asking < limit) return true
    if (this.#options.nowMs() >= count.restsUntilMs) {
      count.recount ??= this.#recount(name, count)
      await count.recount
    }
    return count.steps + count.asking < limit
  }

  /** Takes up room until it is answered. */
  ask(name: string | undefined): void {
    this.#of(name).asking += 1
  }

  answered(name: string | undefined): void {
    this.#of(name).asking -= 1
  }

  /** As `hasRoom`, where the bound already says yes; the common case costs no promise. */
  surelyHasRoom(name: string | undefined, limit: number): boolean {
    const count = this.#of(name)
    return count.steps + count.asking < limit
  }

  async #recount(name: string | undefined, count: Count): Promise<void> {
    const { nowMs } = this.#options
    const steps = count.steps
    const sinceMs = nowMs()
    try {
      const held = await this.#countHolds(name)
      // What began while the pages were read may be in none of them.
      count.steps = held + Math.max(0, count.steps - steps)
    } finally {
      // Where there is one for all, the engine knows the number.
      if (name !== undefined) count.restsUntilMs = nowMs() + (nowMs() - sinceMs) * REST_FACTOR
      count.recount = undefined
    }
  }

  async #countHolds(name: string | undefined): Promise<number> {
    const { engine } = this.#options
    if (name === undefined) return (await engine.read({ kind: 'stats' })).holds
    let held = 0
    let cursor: string | undefined
    do {
      const page = await engine.read({ kind: 'list', limit: PAGE, cursor })
      const holders = page.locks.flatMap((lock) => lock.holders)
      held += holders.filter(({ owner, node }) => belongsTo(name, node ?? owner)).length
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    return held
  }

  /** Whose hold it is by its stored name; `undefined` for one from before auth was turned on. */
  #countOf(stored: string): Count | undefined {
    const { names } = this.#options
    if (names === undefined) return this.#anybody
    const name = stored.slice(0, Math.max(0, stored.indexOf('/')))
    return names().has(name) ? this.#of(name) : undefined
  }

  #of(name: string | undefined): Count {
    if (name === undefined) return this.#anybody
    let count = this.#counts.get(name)
    if (count === undefined) {
      count = createCount(this.#before)
      this.#counts.set(name, count)
    }
    return count
  }
}

function createCount(steps: number): Count {
  return { steps, asking: 0, recount: undefined, restsUntilMs: Number.NEGATIVE_INFINITY }
}

/** A cancelled waiter has no token; a grant that was undone has one. */
function changeOf(kind: EventKind, token: number | undefined): number {
  switch (kind) {
    case 'granted':
      return 1
    case 'released':
    case 'expired':
    case 'disconnected':
    case 'forced':
      return -1
    case 'cancelled':
      return token === undefined ? 0 : -1
    case 'queued':
    case 'refused':
    case 'completed':
      return 0
  }
}

function belongsTo(name: string, stored: string): boolean {
  return stored.startsWith(name) && stored[name.length] === '/'
}
