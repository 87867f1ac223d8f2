import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { Ended, Verb } from '../../../law/model/view.ts'

/**
 * The ends of a key's requests, the newest `ENDED_PER_KEY_MAX` of them, in a ring. Every fresh request is
 * looked up here and is nearly always not found, so each end has a small sign of its owner beside it:
 * going through the signs costs less than hashing the owner for a map.
 */
export class EndedMemory {
  lastAtMs = 0
  readonly #signs: number[] = []
  readonly #ends: Ended[] = []
  /** Index of the oldest end once there are as many as are kept. */
  #oldest = 0

  get size(): number {
    return this.#ends.length
  }

  find(verb: Verb, owner: string, requestId: string): Ended | undefined {
    const signs = this.#signs
    const sign = signOf(owner)
    for (let index = 0; index < signs.length; index += 1) {
      if (signs[index] !== sign) continue
      const ended = this.#ends[index] as Ended
      const isSame = ended.requestId === requestId && ended.verb === verb
      if (isSame && ended.owner === owner) return ended
    }
    return undefined
  }

  /** The latest end of something that was granted to this owner. */
  lastEnd(owner: string): Ended | undefined {
    let last: Ended | undefined
    for (const ended of this) {
      if (ended.answer.kind === 'hold-ended' && ended.owner === owner) last = ended
    }
    return last
  }

  /** Whether that is one more; a full memory forgets its oldest. */
  add(ended: Ended): boolean {
    this.lastAtMs = ended.atMs
    const isMore = this.#ends.length < ENDED_PER_KEY_MAX
    const index = isMore ? this.#ends.length : this.#oldest
    this.#signs[index] = signOf(ended.owner)
    this.#ends[index] = ended
    if (!isMore) this.#oldest = (index + 1) % ENDED_PER_KEY_MAX
    return isMore
  }

  isOver(nowMs: number): boolean {
    return this.lastAtMs + ENDED_REMEMBERED_MS <= nowMs
  }

  /** Oldest first. */
  *[Symbol.iterator](): Iterator<Ended> {
    yield* this.#ends.slice(this.#oldest)
    yield* this.#ends.slice(0, this.#oldest)
  }
}

/** From the length and a few characters: owners that differ mostly differ at their end. */
function signOf(owner: string): number {
  const { length } = owner
  let sign = length
  for (let index = Math.max(0, length - 5); index < length; index += 1) {
    sign = (Math.imul(sign, 31) + owner.charCodeAt(index)) | 0
  }
  return sign
}
