import type { Change } from '../../../law/model/changes.ts'
import type {
  Hold,
  HoldEnd,
  Mode,
  Namespace,
  Reference,
  Step,
  Waiter,
} from '../../../law/model/view.ts'

/** A hold as the witness remembers it: a copy of its own, which the engine cannot change. */
export interface ShadowHold {
  readonly owner: string
  readonly reads: number
  readonly writes: number
  readonly token: number
  readonly leaseAtMs: number
  readonly ttlMs: number
  readonly steps: readonly Step[]
  readonly session: string | undefined
  readonly type: string | undefined
  readonly version: string | undefined
  readonly coordination: string | undefined
  /** Read after a restart, which does not show whether its grants were taken. */
  readonly isRecovered: boolean
}

export interface ShadowWaiter {
  readonly owner: string
  readonly requestId: string
  readonly mode: Mode
  readonly lane: number
  readonly upgrade: boolean
  readonly ttlMs: number
  readonly deadlineAtMs: number
  readonly leaseAtMs: number
  /** The other requests that it stands for. */
  readonly joined: readonly string[]
}

/** What one change of a decision means for the key, in the witness's own words. */
export type Effect =
  | { readonly kind: 'hold-set'; readonly hold: ShadowHold }
  | { readonly kind: 'hold-ended'; readonly owner: string; readonly end: HoldEnd }
  | { readonly kind: 'waiter-set'; readonly waiter: ShadowWaiter }
  | { readonly kind: 'waiter-gone'; readonly waiter: ShadowWaiter; readonly answer: string }
  | { readonly kind: 'reference-set'; readonly reference: Reference }
  | { readonly kind: 'reference-dropped'; readonly node: string }
  | { readonly kind: 'success-remembered'; readonly type: string; readonly text: string }
  | { readonly kind: 'success-forgotten'; readonly type: string }
  | {
      readonly kind: 'request-ended'
      readonly owner: string
      readonly requestId: string
      readonly volatile: boolean
    }

export function toEffects(changes: readonly Change[]): Effect[] {
  return changes.flatMap((change): Effect[] => {
    switch (change.kind) {
      case 'hold-set':
        return [{ kind: 'hold-set', hold: copyHold(change.hold) }]
      case 'hold-ended':
        return [{ kind: 'hold-ended', owner: change.hold.owner, end: change.end }]
      case 'waiter-added':
      case 'waiter-kept':
        return [{ kind: 'waiter-set', waiter: copyWaiter(change.waiter) }]
      case 'waiter-gone': {
        const { answer } = change
        const text = answer.kind === 'refused' ? answer.code : answer.kind
        return [{ kind: 'waiter-gone', waiter: copyWaiter(change.waiter), answer: text }]
      }
      case 'end-remembered': {
        const { verb, owner, requestId } = change.ended
        const { volatile } = change
        return verb === 'acquire' ? [{ kind: 'request-ended', owner, requestId, volatile }] : []
      }
      case 'success-remembered': {
        const { type, version, value, replayOnly } = change.remembered
        const text = JSON.stringify([version ?? null, value ?? null, !replayOnly])
        return [{ kind: 'success-remembered', type, text }]
      }
      case 'lane-passed':
        return []
      default:
        return [change]
    }
  })
}

function copyHold(hold: Hold): ShadowHold {
  const { owner, reads, writes, token, leaseAtMs, ttlMs, session, operation } = hold
  const steps = hold.steps.map((step) => ({ ...step }))
  const { type, version, coordination } = operation ?? {}
  return {
    ...{ owner, reads, writes, token, leaseAtMs, ttlMs, steps, session },
    ...{ type, version, coordination, isRecovered: false },
  }
}

function copyWaiter(waiter: Waiter): ShadowWaiter {
  const { owner, requestId, mode, lane, upgrade, ttlMs, deadlineAtMs, leaseAtMs } = waiter
  const { joined = [] } = waiter
  return { owner, requestId, mode, lane, upgrade, ttlMs, deadlineAtMs, leaseAtMs, joined }
}

export function subjectOf(namespace: Namespace, key: string): string {
  return `${namespace} ${key}`
}

/** One key as the decisions so far have made it. */
export class ShadowKey {
  readonly namespace: Namespace
  readonly key: string
  readonly holds: Map<string, ShadowHold> = new Map()
  /** In the order of their arrival. */
  waiters: readonly ShadowWaiter[] = []
  readonly references: Set<string> = new Set()
  readonly successes: Map<string, string> = new Map()
  /** The highest token that was given. */
  token = 0
  /** By owner: the token of a hold before it became a writer's. */
  readonly earlierTokens: Map<string, number> = new Map()

  constructor(namespace: Namespace, key: string) {
    this.namespace = namespace
    this.key = key
  }

  get subject(): string {
    return subjectOf(this.namespace, this.key)
  }

  apply(effect: Effect): void {
    switch (effect.kind) {
      case 'hold-set':
        this.#setHold(effect.hold)
        break
      case 'hold-ended':
        this.holds.delete(effect.owner)
        this.earlierTokens.delete(effect.owner)
        break
      case 'waiter-set':
        this.#setWaiter(effect.waiter)
        break
      case 'waiter-gone':
        this.waiters = this.waiters.filter((waiter) => !isSame(waiter, effect.waiter))
        break
      case 'reference-set':
        this.references.add(effect.reference.node)
        break
      case 'reference-dropped':
        this.references.delete(effect.node)
        break
      case 'success-remembered':
        this.successes.set(effect.type, effect.text)
        break
      case 'success-forgotten':
        this.successes.delete(effect.type)
        break
      case 'request-ended':
        break
    }
  }

  #setHold(hold: ShadowHold): void {
    const before = this.holds.get(hold.owner)
    if (before?.writes === 0 && hold.writes > 0) this.earlierTokens.set(hold.owner, before.token)
    this.holds.set(hold.owner, hold)
    this.token = Math.max(this.token, hold.token)
  }

  #setWaiter(waiter: ShadowWaiter): void {
    const index = this.waiters.findIndex((other) => isSame(other, waiter))
    this.waiters = index < 0 ? [...this.waiters, waiter] : this.waiters.with(index, waiter)
  }

  /** What of it must outlive the engine. */
  copyDurable(): ShadowKey {
    const copy = new ShadowKey(this.namespace, this.key)
    for (const hold of this.holds.values()) copy.apply({ kind: 'hold-set', hold })
    for (const node of this.references) copy.references.add(node)
    for (const [type, text] of this.successes) copy.successes.set(type, text)
    for (const [owner, token] of this.earlierTokens) copy.earlierTokens.set(owner, token)
    copy.token = this.token
    return copy
  }

  /** The same text for the same durable state. */
  describe(): string {
    const holds = Array.from(this.holds.values(), describeHold).sort()
    const references = [...this.references].sort()
    const successes = Array.from(this.successes, ([type, text]) => `${type} ${text}`).sort()
    return JSON.stringify([holds, references, successes])
  }
}

/** The same for a holder that was read from the engine. */
export function describeHold(hold: {
  readonly owner: string
  readonly reads: number
  readonly writes: number
  readonly token: number
  readonly session?: string | undefined
  readonly type?: string | undefined
  readonly version?: string | undefined
}): string {
  const { owner, reads, writes, token, session, type, version } = hold
  return `${owner} ${reads}r ${writes}w #${token} ${session ?? '-'} ${type ?? '-'} ${version ?? '-'}`
}

function isSame(one: ShadowWaiter, other: ShadowWaiter): boolean {
  return one.owner === other.owner && one.requestId === other.requestId
}
