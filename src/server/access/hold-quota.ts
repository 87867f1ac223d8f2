import type { LockEngine } from '../../engine/engine.ts'

export interface HoldQuotaOptions {
  readonly engine: LockEngine
  /** Holds and open requests of one principal. */
  readonly limit: number
  readonly nowMs: () => number
}

interface Count {
  /** Never lower than the number of holds and open requests that this server knows of. */
  bound: number
  /** The holds are counted anew where the bound reaches this. */
  dueAt: number
  /** Requests that have not been answered. */
  open: number
  /** Requests that came while the holds are being counted. */
  added: number
  recount: Promise<void> | undefined
  /** Changes when counting begins and when it ends. */
  phase: number
  /** Not counted anew before this, and not for a request that is about to be refused before that. */
  restsUntilMs: number
  refusesUntilMs: number
}

/** The holds are counted anew when this part of the room is used up: other servers may have used the rest. */
const PART_OF_ROOM = 8
/** Listing the holds of a principal may take a twentieth of the time, however many there are. */
const REST_FACTOR = 20
const PAGE = 1_000

/**
 * The limit on the holds of each principal. Every request takes up room; a refusal and a release give it back. What
 * else ends is not noticed, nor is what other servers do: so the holds are counted now and then, and always before
 * a request is refused.
 */
export class HoldQuota {
  readonly #options: HoldQuotaOptions
  readonly #counts = new Map<string, Count>()
  /** Where auth is off there is one principal, without a name. */
  readonly #unnamed: Count
  #before = 0

  constructor(options: HoldQuotaOptions) {
    this.#options = options
    this.#unnamed = this.#createCount(0)
  }

  /** What was held before the server started may belong to any principal. */
  async open(): Promise<void> {
    this.#before = await this.#countHolds(undefined)
    this.#setBound(this.#unnamed, this.#before)
  }

  /** Takes room for a request until it is answered; false where there may be none. */
  take(name: string | undefined): boolean {
    const count = this.#of(name)
    if (count.bound >= this.#options.limit) return false
    this.#add(count)
    if (count.bound >= count.dueAt && this.#options.nowMs() >= count.restsUntilMs) {
      this.#recount(name, count).catch(() => {})
    }
    return true
  }

  /** For a request that makes no further hold. */
  takeAnyway(name: string | undefined): void {
    this.#add(this.#of(name))
  }

  /** A request was answered. Without a hold it leaves its room to others. */
  answered(name: string | undefined, isHold: boolean): void {
    const count = this.#of(name)
    count.open -= 1
    if (!isHold) count.bound -= 1
  }

  /** To be given to `released` with the answer, so that no hold is subtracted that was not counted. */
  phaseOf(name: string | undefined): number {
    return this.#of(name).phase
  }

  /** A hold has ended, by a command that was sent in this phase. */
  released(name: string | undefined, phase: number): void {
    const count = this.#of(name)
    if (count.phase === phase) count.bound -= 1
  }

  /** Before a request is refused: counts the holds, unless that was done lately. */
  async recount(name: string | undefined): Promise<void> {
    const count = this.#of(name)
    if (this.#options.nowMs() < count.refusesUntilMs) return
    await this.#recount(name, count)
    // Where there is one principal, the engine knows the number.
    if (name !== undefined) count.refusesUntilMs = count.restsUntilMs
  }

  #add(count: Count): void {
    count.bound += 1
    count.open += 1
    count.added += 1
  }

  #recount(name: string | undefined, count: Count): Promise<void> {
    count.recount ??= this.#countAnew(name, count).finally(() => {
      count.recount = undefined
    })
    return count.recount
  }

  async #countAnew(name: string | undefined, count: Count): Promise<void> {
    const { limit, nowMs } = this.#options
    const { open } = count
    const sinceMs = nowMs()
    count.added = 0
    count.phase += 1
    try {
      const held = await this.#countHolds(name)
      // What was open or came meanwhile may not be among those that were counted. It was let through below the limit.
      this.#setBound(count, Math.max(held, Math.min(held + open + count.added, limit)))
    } finally {
      count.restsUntilMs = nowMs() + (nowMs() - sinceMs) * REST_FACTOR
      count.phase += 1
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
      held += holders.filter(({ owner, node }) => (node ?? owner).startsWith(`${name}/`)).length
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    return held
  }

  #of(name: string | undefined): Count {
    if (name === undefined) return this.#unnamed
    let count = this.#counts.get(name)
    if (count === undefined) {
      count = this.#createCount(this.#before)
      this.#counts.set(name, count)
    }
    return count
  }

  #createCount(bound: number): Count {
    const idle = { open: 0, added: 0, recount: undefined, phase: 0 }
    const count: Count = { ...idle, bound: 0, dueAt: 0, restsUntilMs: 0, refusesUntilMs: 0 }
    this.#setBound(count, bound)
    return count
  }

  #setBound(count: Count, bound: number): void {
    count.bound = bound
    count.dueAt = bound + (this.#options.limit - bound) / PART_OF_ROOM
  }
}
