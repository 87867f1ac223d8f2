import type { WatchEvent } from '../../engine/engine.ts'
import type { EventKind } from '../../law/model/events.ts'
import {
  type HoldCounts,
  type HoldCountsOptions,
  listHolds,
  principalOf,
  REST_FACTOR,
} from './hold-counts.ts'

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
 * For engines that tell of a change before they answer it. A bound is kept that events move up and down;
 * only where it reaches the limit are the holds counted, and then not all the time.
 */
export class QuotaCheck implements HoldCounts {
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

  hasRoom(name: string | undefined, limit: number): boolean {
    const count = this.#of(name)
    return count.steps + count.asking < limit
  }

  async recount(name: string | undefined): Promise<void> {
    const count = this.#of(name)
    if (this.#options.nowMs() < count.restsUntilMs) return
    count.recount ??= this.#recount(name, count)
    await count.recount
  }

  ask(name: string | undefined): void {
    this.#of(name).asking += 1
  }

  answered(name: string | undefined): void {
    this.#of(name).asking -= 1
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
    for await (const _ of listHolds(engine, name)) held += 1
    return held
  }

  /** Whose hold it is by its stored name; `undefined` for one from before auth was turned on. */
  #countOf(stored: string): Count | undefined {
    const { names } = this.#options
    if (names === undefined) return this.#anybody
    const name = principalOf(stored)
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
