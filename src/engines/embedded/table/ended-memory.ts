import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import type { Ended, Verb } from '../../../law/model/view.ts'

/**
 * The ends of a key's requests, the newest `ENDED_PER_KEY_MAX` of them, in a ring. Every fresh request is
 * looked up here and is nearly always not found, so each end has a small sign of its owner beside it:
 * going through the signs costs less than hashing the owner for a map. Most keys remember one end only,
 * and have no ring.
 */
export class EndedMemory {
  lastAtMs = 0
  #only: Ended | undefined
  #ring: Ring | undefined

  get size(): number {
    if (this.#ring !== undefined) return this.#ring.ends.length
    return this.#only === undefined ? 0 : 1
  }

  find(verb: Verb, owner: string, requestId: string): Ended | undefined {
    const ring = this.#ring
    if (ring === undefined) {
      const only = this.#only
      return only !== undefined && isOf(only, verb, requestId) && only.owner === owner
        ? only
        : undefined
    }
    const sign = signOf(owner)
    const { signs, ends } = ring
    for (let index = 0; index < signs.length; index += 1) {
      if (signs[index] !== sign) continue
      const ended = ends[index] as Ended
      if (isOf(ended, verb, requestId) && ended.owner === owner) return ended
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
    if (this.#ring !== undefined) return put(this.#ring, ended)
    if (this.#only === undefined) {
      this.#only = ended
      return true
    }
    const first = this.#only
    this.#only = undefined
    this.#ring = { signs: [signOf(first.owner)], ends: [first], oldest: 0 }
    return put(this.#ring, ended)
  }

  isOver(nowMs: number): boolean {
    return this.lastAtMs + ENDED_REMEMBERED_MS <= nowMs
  }

  /** Oldest first. */
  *[Symbol.iterator](): Iterator<Ended> {
    if (this.#only !== undefined) yield this.#only
    if (this.#ring === undefined) return
    yield* this.#ring.ends.slice(this.#ring.oldest)
    yield* this.#ring.ends.slice(0, this.#ring.oldest)
  }
}

interface Ring {
  readonly signs: number[]
  readonly ends: Ended[]
  oldest: number
}

function put(ring: Ring, ended: Ended): boolean {
  if (ring.ends.length < ENDED_PER_KEY_MAX) {
    ring.signs.push(signOf(ended.owner))
    ring.ends.push(ended)
    return true
  }
  ring.signs[ring.oldest] = signOf(ended.owner)
  ring.ends[ring.oldest] = ended
  ring.oldest = (ring.oldest + 1) % ENDED_PER_KEY_MAX
  return false
}

function isOf(ended: Ended, verb: Verb, requestId: string): boolean {
  return ended.requestId === requestId && ended.verb === verb
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
