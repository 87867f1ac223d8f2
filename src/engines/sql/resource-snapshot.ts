import { unreachable } from '../../law/assert.ts'
import type {
  ReferenceAdded,
  ReferenceDropped,
  ReferencesCleared,
  SuccessForgotten,
  SuccessRemembered,
} from '../../law/changes.ts'
import type { Remembered } from '../../law/view.ts'
import { MissingPart } from './missing-part.ts'

export type ResourceChange =
  | ReferenceAdded
  | ReferenceDropped
  | ReferencesCleared
  | SuccessRemembered
  | SuccessForgotten

/** The references and successes of a resource, as far as they were loaded. */
export class ResourceSnapshot {
  referenceCount: number
  hasReferences: boolean
  hasSuccesses: boolean
  /** By node: whether it references the resource. */
  readonly #references = new Map<string, boolean>()
  readonly #successes = new Map<string, Remembered>()
  readonly addedNodes: Set<string> = new Set()
  readonly droppedNodes: Set<string> = new Set()
  isCleared = false
  readonly changedTypes: Set<string> = new Set()

  constructor(references: number, successes: number) {
    this.referenceCount = references
    this.hasReferences = references === 0
    this.hasSuccesses = successes === 0
  }

  takeReferences(nodes: Iterable<string>): void {
    for (const node of nodes) if (!this.#references.has(node)) this.#references.set(node, true)
  }

  /** All references there are have been taken. */
  takeWhole(): void {
    this.hasReferences = true
  }

  takeAbsence(node: string): void {
    if (!this.#references.has(node)) this.#references.set(node, false)
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

  hasReference(node: string): boolean {
    const known = this.#references.get(node)
    if (known === undefined && !this.hasReferences) {
      throw new MissingPart({ kind: 'reference', node })
    }
    return known ?? false
  }

  references(): string[] {
    if (!this.hasReferences) throw new MissingPart({ kind: 'references' })
    return [...this.#references].filter(([, isThere]) => isThere).map(([node]) => node)
  }

  remembered(type: string): Remembered | undefined {
    return this.#needSuccesses().get(type)
  }

  everyRemembered(): Remembered[] {
    return [...this.#needSuccesses().values()]
  }

  /** When the first success is to be forgotten. */
  get dueAtMs(): number {
    return Math.min(Infinity, ...this.everyRemembered().map(({ untilMs }) => untilMs))
  }

  #needSuccesses(): Map<string, Remembered> {
    if (!this.hasSuccesses) throw new MissingPart({ kind: 'successes' })
    return this.#successes
  }

  /** All of it was written. */
  commit(): void {
    this.addedNodes.clear()
    this.droppedNodes.clear()
    this.isCleared = false
    this.changedTypes.clear()
  }

  apply(change: ResourceChange): void {
    switch (change.kind) {
      case 'reference-added':
        this.#references.set(change.node, true)
        this.referenceCount += 1
        this.addedNodes.add(change.node)
        this.droppedNodes.delete(change.node)
        break
      case 'reference-dropped':
        this.#references.set(change.node, false)
        this.referenceCount -= 1
        this.droppedNodes.add(change.node)
        this.addedNodes.delete(change.node)
        break
      case 'references-cleared':
        this.#references.clear()
        this.hasReferences = true
        this.referenceCount = 0
        this.isCleared = true
        this.addedNodes.clear()
        this.droppedNodes.clear()
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
