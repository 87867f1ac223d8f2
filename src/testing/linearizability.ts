/**
 * Is there an order of these operations, each taking effect at one instant between its call and
 * its return, that a sequential model allows? The search is the one of Wing and Gong with Lowe's
 * memo: a configuration (which operations are done, which state they led to) is visited once.
 *
 * The list of events (calls and returns, by time) always holds what is not yet in the order. From
 * its head, each call is tried; one that the model allows is taken out together with its return,
 * and the search starts again at the head. A return that is met while still in the list means that
 * its operation should have been placed before: the last choice is undone and the next one tried.
 * An operation that fits and never changes anything is no choice: it could not fit better later.
 *
 * Operations that end open may be left out, which makes them costly: each could be tried everywhere.
 * So they are tried only where no finished operation helps; of several equal ones the earliest goes
 * first; and a configuration is given up if it was reached before with fewer of them used up. None
 * of this loses a legal order: whatever could follow could have followed then.
 */

import type { EventNode } from './event-list.ts'
import { linkEvents, relink, unlink } from './event-list.ts'
import type { PendingCall } from './pending-calls.ts'
import { markOpenCalls } from './pending-calls.ts'

/** What the object under test would do if it were asked one thing at a time. */
export interface SequentialModel<State, Operation> {
  readonly initial: State
  /** The state afterwards, or `null` if the operation could not have had this answer then. */
  step(state: State, operation: Operation): State | null
  /** True for an operation that leaves every state as it is. Knowing it shortens the search. */
  observes?(operation: Operation): boolean
  /** Equal texts for equal states and for no others. */
  fingerprint(state: State): string
}

/** Calls and returns at the same instant count as concurrent. */
export interface TimedOperation<Operation> {
  /** Plain data. */
  readonly operation: Operation
  readonly call: number
  /** `Infinity` for an operation that may or may not have happened. */
  readonly ret: number
}

export type LinearizabilityResult =
  /** `order` holds indexes into the operations, in an order that the model allows. */
  | { readonly kind: 'linearizable'; readonly order: readonly number[]; readonly steps: number }
  /** No order exists. `blocked` is the operation that the longest attempt could not place. */
  | { readonly kind: 'impossible'; readonly blocked: number; readonly steps: number }
  /** The budget ran out. This is never a pass. */
  | { readonly kind: 'unknown'; readonly steps: number }

export interface SearchOptions {
  /** How often the search may ask the model; the same history always gives the same answer. */
  readonly stepsMax?: number
}

/** About two seconds of search on a small machine. */
const STEPS_MAX_DEFAULT = 1_000_000

export function checkLinearizable<State, Operation>(
  model: SequentialModel<State, Operation>,
  operations: readonly TimedOperation<Operation>[],
  options: SearchOptions = {},
): LinearizabilityResult {
  return new Search(model, operations).run(options.stepsMax ?? STEPS_MAX_DEFAULT)
}

/**
 * Groups by a key, in order of first appearance. A history is linearizable exactly if its part on
 * each independent object is, and many small searches cost far less than one large one.
 */
export function partitionBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const parts = new Map<string, Item[]>()
  for (const item of items) {
    const part = parts.get(keyOf(item))
    if (part === undefined) parts.set(keyOf(item), [item])
    else part.push(item)
  }
  return parts
}

type Node<Operation> = EventNode<TimedOperation<Operation>>

/** Where the search goes on: at an event, or at an open call that no event could do without. */
type Cursor<Operation> = Node<Operation> | number | null

interface Choice<State, Operation> {
  readonly timed: TimedOperation<Operation>
  readonly node: Node<Operation> | null
  readonly openIndex: number
  /** There is no point in trying anything else in its place. */
  readonly isForced: boolean
  readonly stateBefore: State
  readonly highestRankBefore: number
}

class Search<State, Operation> {
  readonly #model: SequentialModel<State, Operation>
  readonly #operations: readonly TimedOperation<Operation>[]
  readonly #head: Node<Operation>
  readonly #pendingCalls: readonly PendingCall<TimedOperation<Operation>>[]
  /** Which open operations had been used up, each time a configuration was reached. */
  readonly #seen = new Map<string, bigint[]>()
  readonly #chosen: Choice<State, Operation>[] = []
  #state: State
  #highestRank = -1
  /** One bit for each open operation that is placed. */
  #usedOpen = 0n
  #unfinished: number
  #deepest = -1
  #blocked: TimedOperation<Operation> | null = null
  #steps = 0

  constructor(
    model: SequentialModel<State, Operation>,
    operations: readonly TimedOperation<Operation>[],
  ) {
    const byCall = [...operations].sort((a, b) => a.call - b.call)
    const finished = byCall.filter(({ ret }) => ret < Infinity)
    this.#model = model
    this.#state = model.initial
    this.#operations = operations
    this.#head = linkEvents(finished)
    this.#pendingCalls = markOpenCalls(operations.filter(({ ret }) => ret === Infinity))
    this.#unfinished = finished.length
  }

  run(stepsMax: number): LinearizabilityResult {
    let cursor: Cursor<Operation> = this.#head.next
    while (this.#unfinished > 0) {
      if (this.#steps >= stepsMax) return { kind: 'unknown', steps: this.#steps }
      const isPlaced = typeof cursor === 'number' ? this.#tryOpen(cursor) : this.#tryNode(cursor)
      if (isPlaced) {
        cursor = this.#head.next
        continue
      }
      cursor = this.#after(cursor)
      if (cursor !== null) continue
      let undone = this.#undo()
      while (undone?.isForced === true) undone = this.#undo()
      if (undone === null) return this.#toImpossible()
      cursor = this.#after(undone.node ?? undone.openIndex)
    }
    const order = this.#chosen.map(({ timed }) => this.#operations.indexOf(timed))
    return { kind: 'linearizable', order, steps: this.#steps }
  }

  // Calls up to the first return, then open calls from before it, then nothing.
  #after(cursor: Cursor<Operation>): Cursor<Operation> {
    if (cursor !== null && typeof cursor !== 'number' && cursor.kind === 'call') return cursor.next
    const limit = this.#firstReturn()
    let next = typeof cursor === 'number' ? cursor + 1 : 0
    while ((this.#pendingCalls[next]?.item.call ?? -Infinity) > limit.at) next++
    if (next < this.#pendingCalls.length) return next
    this.#noteBlocked(limit)
    return null
  }

  #tryNode(node: Node<Operation> | null): boolean {
    if (node?.kind !== 'call') return false
    const timed = node.item as TimedOperation<Operation>
    const state = this.#step(timed)
    if (state === null) return false
    unlink(node)
    const highestRank = Math.max(this.#highestRank, node.rank)
    if (!this.#isNew(highestRank, state, this.#usedOpen)) {
      relink(node)
      return false
    }
    if (node.match !== null) unlink(node.match)
    this.#unfinished--
    this.#choose(
      { timed, node, openIndex: -1, isForced: this.#model.observes?.(timed.operation) === true },
      state,
    )
    this.#highestRank = highestRank
    return true
  }

  #tryOpen(openIndex: number): boolean {
    const {
      item: timed,
      bit,
      twinBit,
    } = this.#pendingCalls[openIndex] as PendingCall<TimedOperation<Operation>>
    if ((this.#usedOpen & bit) !== 0n || (this.#usedOpen & twinBit) !== twinBit) return false
    const state = this.#step(timed)
    if (state === null || !this.#isNew(this.#highestRank, state, this.#usedOpen | bit)) return false
    this.#choose({ timed, node: null, openIndex, isForced: false }, state)
    this.#usedOpen |= bit
    return true
  }

  #step(timed: TimedOperation<Operation>): State | null {
    this.#steps++
    return this.#model.step(this.#state, timed.operation)
  }

  #choose(
    choice: Pick<Choice<State, Operation>, 'timed' | 'node' | 'openIndex' | 'isForced'>,
    state: State,
  ): void {
    this.#chosen.push({
      ...choice,
      stateBefore: this.#state,
      highestRankBefore: this.#highestRank,
    })
    this.#state = state
  }

  #undo(): Choice<State, Operation> | null {
    const choice = this.#chosen.pop()
    if (choice === undefined) return null
    const { node } = choice
    if (node === null) {
      this.#usedOpen ^= this.#pendingCalls[choice.openIndex]?.bit ?? 0n
    } else {
      if (node.match !== null) relink(node.match)
      relink(node)
      this.#unfinished++
    }
    this.#state = choice.stateBefore
    this.#highestRank = choice.highestRankBefore
    return choice
  }

  // The set of placed operations is told by the highest of them and the few below it that are
  // still in the list, which is far shorter than the set itself. Where the same was reached before
  // with some of the open operations that are used up now, nothing can be won any more.
  #isNew(highestRank: number, state: State, usedOpen: bigint): boolean {
    let configuration = `${highestRank}`
    for (let node = this.#head.next; node !== null; node = node.next) {
      if (node.kind !== 'call') continue
      if (node.rank > highestRank) break
      configuration += `,${node.rank}`
    }
    configuration += `|${this.#model.fingerprint(state)}`
    const used = this.#seen.get(configuration)
    if (used === undefined) this.#seen.set(configuration, [usedOpen])
    else if (used.some((fewer) => (fewer & usedOpen) === fewer)) return false
    else used.push(usedOpen)
    return true
  }

  #firstReturn(): Node<Operation> {
    let node = this.#head.next
    while (node?.kind === 'call') node = node.next
    return node as Node<Operation>
  }

  #noteBlocked(node: Node<Operation>): void {
    if (this.#chosen.length <= this.#deepest) return
    this.#deepest = this.#chosen.length
    this.#blocked = node.item
  }

  #toImpossible(): LinearizabilityResult {
    const blocked = this.#operations.indexOf(this.#blocked as TimedOperation<Operation>)
    return { kind: 'impossible', blocked, steps: this.#steps }
  }
}
