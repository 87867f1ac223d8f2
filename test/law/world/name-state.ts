import type { Hold, OperationFacts, Waiter } from '../../../src/law/model/view.ts'
import type { KeyState } from './plain-view.ts'

export interface NamingOptions {
  /** On where ids are used again, so that it matters which one did what. */
  readonly keepsIds: boolean
  /** On where owners differ in more than their name. */
  readonly keepsOwners: boolean
}

/**
 * A name that two states share only if the same commands lead to the same answers from both. Instants
 * count from now, owners by their first appearance: the lists are in grant and arrival order, so
 * renaming the owners of one state never gives two names. Tokens do not matter for what follows; that
 * they grow is checked on the way.
 */
export function nameStates(
  states: readonly KeyState[],
  nowMs: number,
  options: NamingOptions,
): string {
  const namer = new Namer(nowMs, options)
  return states.map((state) => namer.nameOf(state)).join('\n')
}

class Namer {
  readonly #nowMs: number
  readonly #options: NamingOptions
  readonly #owners = new Map<string, number>()

  constructor(nowMs: number, options: NamingOptions) {
    this.#nowMs = nowMs
    this.#options = options
  }

  nameOf(state: KeyState): string {
    const parts = [
      state.holds.map((hold) => this.#hold(hold)),
      state.waiters.map((waiter) => this.#waiter(waiter)),
      this.#options.keepsIds ? this.#ended(state) : [],
      state.references
        .map(({ node, claimByMs }) => `${node}${this.#fromNow(claimByMs)}`)
        .toSorted(),
      this.#successes(state),
      state.passes,
    ]
    return parts.map((list) => list.join(';')).join('|')
  }

  #owner(name: string): string {
    if (this.#options.keepsOwners) return name
    const known = this.#owners.get(name)
    if (known !== undefined) return `${known}`
    this.#owners.set(name, this.#owners.size)
    return `${this.#owners.size - 1}`
  }

  #id(name: string): string {
    return this.#options.keepsIds ? name : ''
  }

  #fromNow(atMs: number | null): string {
    return atMs === null ? '-' : `${atMs - this.#nowMs}`
  }

  #hold({ owner, leaseAtMs, steps, operation }: Hold): string {
    const named = steps.map((step) => {
      const kind = `${step.mode[0]}${this.#fromNow(step.claimByMs)}${step.tokenBefore !== undefined}`
      return `${kind}${this.#id(step.requestId)}${step.joined ?? ''}`
    })
    const inOrder = this.#options.keepsIds ? named : named.toSorted()
    return `${this.#owner(owner)}:${this.#fromNow(leaseAtMs)}:${inOrder}:${this.#facts(operation)}`
  }

  #waiter(waiter: Waiter): string {
    const { mode, lane, upgrade, connected, operation } = waiter
    const kind = `${mode[0]}${lane}${upgrade}${connected}${this.#facts(operation)}`
    const moments = `${this.#fromNow(waiter.deadlineAtMs)},${this.#fromNow(waiter.leaseAtMs)}`
    const ids = `${this.#id(waiter.requestId)}${waiter.joined ?? ''}`
    return `${this.#owner(waiter.owner)}:${kind}:${moments}${ids}`
  }

  #facts(operation: OperationFacts | undefined): string {
    return operation === undefined ? '' : `${operation.version}${operation.coordination}`
  }

  #ended(state: KeyState): string[] {
    return state.ended.map(({ verb, owner, requestId, mode, atMs, answer }) => {
      const request = `${verb}${this.#owner(owner)}${requestId}${mode}`
      return `${request}${this.#fromNow(atMs)}${JSON.stringify({ ...answer, token: 0 })}`
    })
  }

  #successes(state: KeyState): string[] {
    return state.remembered
      .map(({ type, version, value, untilMs, replayOnly }) => {
        return `${type}${version}${value}${this.#fromNow(untilMs)}${replayOnly}`
      })
      .toSorted()
  }
}
