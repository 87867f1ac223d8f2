import { unreachable } from '../../../law/assert.ts'
import type {
  ReferenceSet,
  ReferenceDropped,
  SuccessForgotten,
  SuccessRemembered,
} from '../../../law/model/changes.ts'
import type { Reference, Remembered } from '../../../law/model/view.ts'
import { MissingPart } from './missing-part.ts'

export type ResourceChange = ReferenceSet | ReferenceDropped | SuccessRemembered | SuccessForgotten

/** The references and successes of a resource, as far as they were loaded. */
export class ResourceSnapshot {
  referenceCount: number
  hasReferences: boolean
  hasUnclaimed: boolean
  hasSuccesses: boolean
  /** By node; `null` for one that does not use the resource. */
  readonly #references = new Map<string, Reference | null>()
  readonly #successes = new Map<string, Remembered>()
  readonly changedNodes: Set<string> = new Set()
  readonly droppedNodes: Set<string> = new Set()
  readonly changedTypes: Set<string> = new Set()

  constructor(references: number, successes: number) {
    this.referenceCount = references
    this.hasReferences = references === 0
    this.hasUnclaimed = references === 0
    this.hasSuccesses = successes === 0
  }

  takeReferences(references: Iterable<Reference>): void {
    for (const one of references) {
      if (!this.#references.has(one.node)) this.#references.set(one.node, one)
    }
  }

  /** All references there are have been taken. */
  takeWhole(): void {
    this.hasReferences = true
    this.hasUnclaimed = true
  }

  takeAbsence(node: string): void {
    if (!this.#references.has(node)) this.#references.set(node, null)
  }

  takeSuccesses(successes: Iterable<Remembered>): void {
    for (const one of successes) {
      if (!this.changedTypes.has(one.type)) this.#successes.set(one.type, one)
    }
    this.hasSuccesses = true
  }

  get successCount(): number {
    return this.#successes.size
  }

  reference(node: string): Reference | undefined {
    const known = this.#references.get(node)
    if (known === undefined && !this.hasReferences) {
      throw new MissingPart({ kind: 'reference', node })
    }
    return known ?? undefined
  }

  references(): Reference[] {
    if (!this.hasReferences) throw new MissingPart({ kind: 'references' })
    return [...this.#references.values()].filter((one) => one !== null)
  }

  /** All that were not claimed are loaded, so that it is known when the next one is due. */
  dueReferences(nowMs: number): Reference[] {
    if (!this.hasUnclaimed) throw new MissingPart({ kind: 'unclaimed-references' })
    return this.#knownUnclaimed().filter(({ claimByMs }) => claimByMs <= nowMs)
  }

  /** As far as they are loaded; the row knows when the others are due. */
  #knownUnclaimed(): { readonly node: string; readonly claimByMs: number }[] {
    return [...this.#references.values()].flatMap((one) =>
      one === null || one.claimByMs === null ? [] : { ...one, claimByMs: one.claimByMs },
    )
  }

  remembered(type: string): Remembered | undefined {
    return this.#needSuccesses().get(type)
  }

  everyRemembered(): Remembered[] {
    return [...this.#needSuccesses().values()]
  }

  /** When the first success is to be forgotten, or the first reference that was not claimed. */
  get dueAtMs(): number {
    let dueAtMs = Infinity
    for (const { untilMs } of this.everyRemembered()) dueAtMs = Math.min(dueAtMs, untilMs)
    for (const { claimByMs } of this.#knownUnclaimed()) dueAtMs = Math.min(dueAtMs, claimByMs)
    return dueAtMs
  }

  #needSuccesses(): Map<string, Remembered> {
    if (!this.hasSuccesses) throw new MissingPart({ kind: 'successes' })
    return this.#successes
  }

  /** All of it was written. */
  commit(): void {
    this.changedNodes.clear()
    this.droppedNodes.clear()
    this.changedTypes.clear()
  }

  apply(change: ResourceChange): void {
    switch (change.kind) {
      case 'reference-set': {
        const { node } = change.reference
        if (!this.#references.get(node)) this.referenceCount += 1
        this.#references.set(node, change.reference)
        this.changedNodes.add(node)
        this.droppedNodes.delete(node)
        break
      }
      case 'reference-dropped':
        this.#references.set(change.node, null)
        this.referenceCount -= 1
        this.droppedNodes.add(change.node)
        this.changedNodes.delete(change.node)
        break
      case 'success-remembered':
        this.#successes.set(change.remembered.type, change.remembered)
        this.changedTypes.add(change.remembered.type)
        break
      case 'success-forgotten':
        this.#successes.delete(change.type)
        this.changedTypes.add(change.type)
        break
      default:
        unreachable(change)
    }
  }
}
