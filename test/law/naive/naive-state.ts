import type { Outcome } from '../../../src/law/model/outcomes.ts'
import type { Coordination, LawSettings } from '../../../src/law/model/settings.ts'
import type { Mode, Session, Verb } from '../../../src/law/model/view.ts'

/**
 * The state of the second model of the law: plain arrays that the model changes in place. It was
 * written from the text of the law and shares no rule with `src/law/`.
 */

export interface NaiveStep {
  readonly id: string
  readonly mode: Mode
  /** `null`: taken. `Infinity`: its owner is being told. Otherwise when the grant is undone. */
  claimBy: number | null
  /** What the hold's token was before this step gave it another. */
  oldToken: number | undefined
  /** Ids that were told of this step when they asked for the same. */
  joined: readonly string[]
}

export interface NaiveFacts {
  readonly type: string
  readonly node: string
  readonly version: string | undefined
  readonly coordination: Coordination
}

export interface NaiveHold {
  readonly owner: string
  readonly party: string
  readonly session: string | undefined
  readonly facts: NaiveFacts | undefined
  token: number
  lease: number
  ttl: number
  steps: NaiveStep[]
}

export interface NaiveWaiter {
  readonly owner: string
  readonly id: string
  readonly party: string
  readonly session: string | undefined
  readonly facts: NaiveFacts | undefined
  readonly mode: Mode
  readonly lane: number
  readonly ttl: number
  connected: boolean
  deadline: number
  lease: number
  /** Ids that were told of this place when they asked for the same. */
  joined: readonly string[]
}

export interface NaiveMemory {
  readonly verb: Verb
  readonly owner: string
  readonly id: string
  readonly mode: Mode | undefined
  readonly at: number
  /** What a late retry is answered. */
  readonly answer: Outcome
}

export interface NaiveSuccess {
  readonly type: string
  readonly version: string | undefined
  readonly value: string | undefined
  readonly until: number
}

export interface NaiveReference {
  readonly node: string
  /** `null`: its node knows of it. Otherwise when it is lost. */
  claimBy: number | null
}

export interface NaiveKey {
  token: number
  /** In grant order. */
  holds: NaiveHold[]
  /** In arrival order, all lanes together. A waiter whose owner holds the key is an upgrader. */
  queue: NaiveWaiter[]
  memory: NaiveMemory[]
  passes: number[]
  refs: NaiveReference[]
  successes: NaiveSuccess[]
}

/** What a request in the queue was told when it left. */
export interface Settled {
  readonly owner: string
  readonly id: string
  readonly answer: Outcome
}

/** One step of the model: where, when, and what has been said so far. */
export interface Turn {
  readonly world: NaiveWorld
  readonly key: NaiveKey
  readonly now: number
  readonly settled: Settled[]
}

export interface NaiveWorld {
  readonly settings: LawSettings
  /** Off: waits that close a cycle are left to their deadline. */
  readonly seesAllKeys: boolean
  readonly keys: Map<string, NaiveKey>
  readonly sessions: Map<string, Session>
}

export function emptyNaiveKey(): NaiveKey {
  return { token: 0, holds: [], queue: [], memory: [], passes: [], refs: [], successes: [] }
}

export function copyNaiveKey(key: NaiveKey): NaiveKey {
  return {
    token: key.token,
    holds: key.holds.map((hold) => ({
      ...hold,
      steps: hold.steps.map((step) => ({ ...step })),
    })),
    queue: key.queue.map((waiter) => ({ ...waiter })),
    memory: [...key.memory],
    passes: [...key.passes],
    refs: key.refs.map((ref) => ({ ...ref })),
    successes: [...key.successes],
  }
}

export function countOf(hold: NaiveHold, mode: Mode): number {
  return hold.steps.filter((step) => step.mode === mode).length
}

export function holdOf(key: NaiveKey, owner: string): NaiveHold | undefined {
  return key.holds.find((hold) => hold.owner === owner)
}

/** Whether an owner may have the mode beside everybody else who holds the key. */
export function isFree(key: NaiveKey, owner: string, mode: Mode): boolean {
  const others = key.holds.filter((hold) => hold.owner !== owner)
  return mode === 'write'
    ? others.length === 0
    : others.every((hold) => countOf(hold, 'write') === 0)
}

/** Who would be served before whom: upgraders, then lane by lane in arrival order. */
export function naiveServingOrder(key: NaiveKey): NaiveWaiter[] {
  const upgraders = key.queue.filter((waiter) => holdOf(key, waiter.owner))
  const ordinary = key.queue.filter((waiter) => !holdOf(key, waiter.owner))
  return [...upgraders, ...ordinary.toSorted((left, right) => left.lane - right.lane)]
}
