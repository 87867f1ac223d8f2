import type { Change } from './model/changes.ts'
import type { KeyView, Reference, Remembered } from './model/view.ts'

/** The memory of a resource, its references and successes, with a decision's changes laid over it. */
export class ResourceDraft {
  readonly #view: KeyView
  readonly #change: (change: Change) => void
  /** By node; `undefined` for a reference that was dropped. */
  readonly #references = new Map<string, Reference | undefined>()
  readonly #successes = new Map<string, Remembered | undefined>()
  #isCleared = false
  referenceCount: number

  constructor(view: KeyView, change: (change: Change) => void) {
    this.#view = view
    this.#change = change
    this.referenceCount = view.referenceCount
  }

  reference(node: string): Reference | undefined {
    if (this.#references.has(node)) return this.#references.get(node)
    return this.#isCleared ? undefined : this.#view.reference(node)
  }

  /** The nodes that use the resource, whether they know it or not. */
  nodes(): string[] {
    const before = this.#isCleared ? [] : Array.from(this.#view.references(), ({ node }) => node)
    const nodes = new Set(before)
    for (const [node, reference] of this.#references) {
      if (reference === undefined) nodes.delete(node)
      else nodes.add(node)
    }
    return [...nodes]
  }

  /** A node counts once, and a reference that it has claimed stays claimed. */
  addReference(reference: Reference): void {
    const before = this.reference(reference.node)
    if (before?.claimByMs === null) return
    if (before === undefined) this.referenceCount += 1
    this.#references.set(reference.node, reference)
    this.#change({ kind: 'reference-set', reference })
  }

  dropReference(node: string): boolean {
    if (this.reference(node) === undefined) return false
    this.referenceCount -= 1
    this.#references.set(node, undefined)
    this.#change({ kind: 'reference-dropped', node })
    return true
  }

  clearReferences(): void {
    if (this.referenceCount === 0) return
    this.#isCleared = true
    this.referenceCount = 0
    this.#references.clear()
    this.#change({ kind: 'references-cleared' })
  }

  remembered(type: string): Remembered | undefined {
    return this.#successes.has(type) ? this.#successes.get(type) : this.#view.remembered(type)
  }

  /** Of how many types a success is remembered. */
  get typeCount(): number {
    const types = new Set(Array.from(this.#view.everyRemembered(), ({ type }) => type))
    for (const [type, success] of this.#successes) {
      if (success === undefined) types.delete(type)
      else types.add(type)
    }
    return types.size
  }

  remember(remembered: Remembered): void {
    this.#successes.set(remembered.type, remembered)
    this.#change({ kind: 'success-remembered', remembered })
  }

  forget(type: string): void {
    if (this.remembered(type) === undefined) return
    this.#successes.set(type, undefined)
    this.#change({ kind: 'success-forgotten', type })
  }

  /** Forget every success for which the test holds. */
  forgetWhere(test: (remembered: Remembered) => boolean): void {
    for (const remembered of [...this.#view.everyRemembered()]) {
      if (test(remembered)) this.forget(remembered.type)
    }
  }
}
