import {
  ENDED_PER_KEY_MAX,
  ENDED_REMEMBERED_MS,
  JOINED_PER_STANDING_MAX,
} from '../../../law/model/limits.ts'
import type { Effect, ShadowKey } from './shadow-key.ts'

interface EndedRequest {
  readonly index: number
  readonly atMs: number
  readonly volatile: boolean
  /** Counts the ends of its key. */
  readonly number: number
}

interface Moment {
  readonly index: number
  readonly nowMs: number
}

/** What was granted to whom under which name: a request that has ended must not hold again. */
export class RequestMemory {
  readonly #ended = new Map<string, Map<string, EndedRequest>>()
  readonly #ends = new Map<string, number>()
  /** The decision that granted each step, by subject, owner and request id. */
  readonly #granted = new Map<string, number>()
  /** By subject and owner: the requests that were answered with the standing of another. */
  readonly #joined = new Map<string, readonly string[]>()

  /** The request that is granted a second time by this effect, if there is one. */
  see(key: ShadowKey, effect: Effect, moment: Moment): string | undefined {
    if (effect.kind === 'request-ended') this.#end(key, effect, moment)
    if (effect.kind === 'hold-ended') this.#endJoined(key, effect.owner, moment)
    if (effect.kind === 'waiter-gone' && effect.answer !== 'granted') {
      this.#joined.delete(nameOf(key.subject, effect.waiter.owner))
    }
    if (effect.kind !== 'hold-set') return undefined
    const { hold } = effect
    const before = key.holds.get(hold.owner)
    for (const { requestId } of hold.steps) {
      const isNew = before?.steps.every((step) => step.requestId !== requestId) ?? true
      if (!isNew) continue
      this.#granted.set(fullName(key.subject, hold.owner, requestId), moment.index)
      if (this.hasEnded(key, { owner: hold.owner, requestId }, moment)) return requestId
    }
    return undefined
  }

  /** A request was answered with what its node has, or waits for, under another id. */
  join({ subject }: ShadowKey, owner: string, requestId: string): void {
    const name = nameOf(subject, owner)
    const others = (this.#joined.get(name) ?? []).filter((other) => other !== requestId)
    this.#joined.set(name, [...others, requestId].slice(-JOINED_PER_STANDING_MAX))
  }

  /** Whatever the law remembers of them, they have ended with what they were answered with. */
  #endJoined(key: ShadowKey, owner: string, moment: Moment): void {
    const name = nameOf(key.subject, owner)
    for (const requestId of this.#joined.get(name) ?? []) {
      this.#end(key, { kind: 'request-ended', owner, requestId, volatile: false }, moment)
    }
    this.#joined.delete(name)
  }

  /** The decision that granted a request for the last time; 0 if none did. */
  grantedAt(subject: string, owner: string, requestId: string): number {
    return this.#granted.get(fullName(subject, owner, requestId)) ?? 0
  }

  /** A new life of the engine knows what was decided up to an index, less what was for the old one. */
  restart({ index, nowMs }: Moment): void {
    // Which of them survived is not looked at.
    this.#joined.clear()
    for (const [subject, ends] of this.#ended) {
      const kept = [...ends].filter(([, end]) => end.index <= index && !end.volatile)
      const renewed = kept.map(([name, end]) => [name, { ...end, atMs: nowMs }] as const)
      this.#ended.set(subject, new Map(renewed))
    }
  }

  #end(
    { subject }: ShadowKey,
    { owner, requestId, volatile }: Extract<Effect, { kind: 'request-ended' }>,
    { index, nowMs }: Moment,
  ): void {
    const number = (this.#ends.get(subject) ?? 0) + 1
    this.#ends.set(subject, number)
    const ends = this.#ended.get(subject) ?? new Map<string, EndedRequest>()
    ends.set(nameOf(owner, requestId), { index, atMs: nowMs, volatile, number })
    this.#ended.set(subject, ends)
  }

  /** Whether a request has ended, so long as the law has to remember it. */
  hasEnded(
    { subject }: ShadowKey,
    { owner, requestId }: { readonly owner: string; readonly requestId: string },
    { nowMs }: Moment,
  ): boolean {
    const end = this.#ended.get(subject)?.get(nameOf(owner, requestId))
    if (end === undefined) return false
    const since = (this.#ends.get(subject) ?? 0) - end.number
    return since < ENDED_PER_KEY_MAX && nowMs < end.atMs + ENDED_REMEMBERED_MS
  }
}

function nameOf(owner: string, requestId: string): string {
  return JSON.stringify([owner, requestId])
}

function fullName(subject: string, owner: string, requestId: string): string {
  return `${subject} ${nameOf(owner, requestId)}`
}
