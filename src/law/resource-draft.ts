import type { Change } from './model/changes.ts'
import { overlay } from './overlay.ts'
import type { KeyView, Reference, Remembered } from './model/view.ts'

/** The memory of a resource, its references and successes, with a decision's changes laid over it. */
export class ResourceDraft {
  readonly #view: KeyView
  readonly #change: (change: Change) => void
  /** By node; `undefined` for a reference that was dropped. */
  readonly #references = new Map<string, Reference | undefined>()
  readonly #successes = new Map<string, Remembered | undefined>()
  referenceCount: number

  constructor(view: KeyView, change: (change: Change) => void) {
    this.#view = view
    this.#change = change
    this.referenceCount = view.referenceCount
  }

  reference(node: string): Reference | undefined {
    return this.#references.has(node) ? this.#references.get(node) : this.#view.reference(node)
  }

  /** The nodes that use the resource, whether they know it or not. */
  nodes(): string[] {
    const references = overlay(this.#view.references(), this.#references, ({ node }) => node)
    return Array.from(references, ({ node }) => node)
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

  remembered(type: string): Remembered | undefined {
    return this.#successes.has(type) ? this.#successes.get(type) : this.#view.remembered(type)
  }

  /** Of how many types a success is remembered. */
  get typeCount(): number {
    return [...overlay(this.#view.everyRemembered(), this.#successes, ({ type }) => type)].length
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
