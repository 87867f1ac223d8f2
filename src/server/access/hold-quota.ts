import type { LockEngine } from '../../engine/engine.ts'
import type { InspectReply, WaiterReply } from '../../engine/queries.ts'
import { QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import type { ListTurns } from './list-turns.ts'

export interface HoldQuotaOptions {
  readonly engine: LockEngine
  readonly lists: ListTurns
  /** Holds and open requests of one principal. */
  readonly limit: number
  readonly nowMs: () => number
}

/** What an engine knows of a principal. */
interface Counted {
  readonly holds: number
  readonly waiters: number
}

/** The owner of a hold or of a place in a queue. */
type Named = Pick<WaiterReply, 'owner' | 'node'>

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
    const { holds, waiters } = await this.#counted(undefined)
    this.#before = holds + waiters
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

  /**
   * A request that asked again, or for one more step, was let through at the limit and granted. It takes no room
   * before, because it makes no further hold unless the one that it was about has just ended.
   */
  grantedAtLimit(name: string | undefined): void {
    const count = this.#of(name)
    count.bound += 1
    count.added += 1
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
    // What has ended since that one began would not be seen.
    await count.recount
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
      const { holds, waiters } = await this.#counted(name)
      // A waiter whose request is held open is one of the open requests. The others may become holds without one.
      const held = holds + Math.max(0, waiters - open)
      // What was open or came meanwhile may not be among those that were counted. It was let through below the limit.
      this.#setBound(count, Math.max(held, Math.min(held + open + count.added, limit)))
    } finally {
      count.restsUntilMs = nowMs() + (nowMs() - sinceMs) * REST_FACTOR
      count.phase += 1
    }
  }

  async #counted(name: string | undefined): Promise<Counted> {
    const { engine, lists } = this.#options
    if (name === undefined) return engine.read({ kind: 'stats' })
    const isTheirs = ({ owner, node }: Named): boolean => (node ?? owner).startsWith(`${name}/`)
    let holds = 0
    let waiters = 0
    let cursor: string | undefined
    do {
      const page = await lists.list({ kind: 'list', limit: QUERY_LIMIT_MAX, cursor })
      for (const lock of page.locks) {
        holds += lock.holders.filter(isTheirs).length
        waiters += (await this.#queueOf(lock)).filter(isTheirs).length
      }
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    return { holds, waiters }
  }

  /** A list shows the first hundred waiters of each key, and an inspection the first thousand. */
  async #queueOf({ namespace, key, queue, queueLength }: InspectReply): Promise<readonly Named[]> {
    if (queue.length === queueLength) return queue
    const { engine } = this.#options
    const queueLimit = Math.min(queueLength, QUERY_LIMIT_MAX)
    const whole = { kind: 'inspect', namespace, key, queueLimit } as const
    return (await engine.read(whole)).queue
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
