import type { OperationFacts } from './operation-facts.ts'
import { nodeOf } from './operation-facts.ts'

/** A span of time: a call and its return, or the possible instants of a decision. */
export interface Span {
  readonly call: number
  readonly ret: number
}

/**
 * When the nodes may have had, and when they must have had, a reference to one resource. Both are
 * needed, because an answer that was lost leaves it open.
 */
export class ReferenceTimes {
  readonly #adds = new Map<string, Span[]>()
  readonly #drops = new Map<string, Span[]>()
  readonly #clears: Span[] = []

  constructor(facts: OperationFacts) {
    for (const addition of facts.additions) push(this.#adds, addition.node, addition)
    for (const { entry, type } of facts.successes) if (type === 'delete') this.#clears.push(entry)
    for (const entry of facts.unrefs) push(this.#drops, nodeOf(entry), entry)
  }

  get nodes(): string[] {
    return [...this.#adds.keys()]
  }

  /** The node has a reference during the whole span, whatever became of lost answers. */
  mustRefer(node: string, span: Span): boolean {
    return (this.#adds.get(node) ?? []).some((add) => {
      return (
        add.ret < span.call &&
        !this.#removals(node).some((removal) => {
          return removal.ret > add.call && removal.call < span.ret
        })
      )
    })
  }

  /** The node may have a reference at some instant of the span. */
  mayRefer(node: string, span: Span): boolean {
    return (this.#adds.get(node) ?? []).some((add) => {
      return (
        add.call < span.ret &&
        !this.#removals(node).some((removal) => {
          return add.ret < removal.call && removal.ret < span.call
        })
      )
    })
  }

  #removals(node: string): Span[] {
    return [...(this.#drops.get(node) ?? []), ...this.#clears]
  }
}

// What ends open is uncertain: it may have been applied, or be applied later, or never.
function push(changes: Map<string, Span[]>, node: string, span: Span): void {
  const known = changes.get(node)
  if (known === undefined) changes.set(node, [span])
  else known.push(span)
}
