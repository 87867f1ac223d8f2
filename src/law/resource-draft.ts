import type { Change } from './changes.ts'
import type { KeyView, Remembered } from './view.ts'

/** The memory of a resource, its references and successes, with a decision's changes laid over it. */
export class ResourceDraft {
  readonly #view: KeyView
  readonly #change: (change: Change) => void
  readonly #added = new Set<string>()
  readonly #dropped = new Set<string>()
  readonly #successes = new Map<string, Remembered | undefined>()
  #cleared = false

  constructor(view: KeyView, change: (change: Change) => void) {
    this.#view = view
    this.#change = change
  }

  get referenceCount(): number {
    const before = this.#cleared ? 0 : this.#view.referenceCount
    return before + this.#added.size - this.#dropped.size
  }

  hasReference(node: string): boolean {
    if (this.#added.has(node)) return true
    return !this.#cleared && !this.#dropped.has(node) && this.#view.hasReference(node)
  }

  references(): string[] {
    const before = this.#cleared ? [] : [...this.#view.references()]
    return [...before.filter((node) => !this.#dropped.has(node)), ...this.#added]
  }

  /** A set: a node counts once. */
  addReference(node: string): void {
    if (this.hasReference(node)) return
    if (!this.#dropped.delete(node)) this.#added.add(node)
    this.#change({ kind: 'reference-added', node })
  }

  dropReference(node: string): boolean {
    if (!this.hasReference(node)) return false
    if (!this.#added.delete(node)) this.#dropped.add(node)
    this.#change({ kind: 'reference-dropped', node })
    return true
  }

  clearReferences(): void {
    if (this.referenceCount === 0) return
    this.#cleared = true
    this.#added.clear()
    this.#dropped.clear()
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
