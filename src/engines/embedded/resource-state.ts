import type { Namespace, Remembered, WaitGraph } from '../../law/view.ts'
import type { DueItem } from './due-heap.ts'
import { KeyState } from './key-state.ts'

/** A resource: a key with references and a memory of what has been done to it. */
export class ResourceState extends KeyState implements DueItem {
  readonly #references = new Set<string>()
  readonly #remembered = new Map<string, Remembered>()
  heapIndex = -1

  override get namespace(): Namespace {
    return 'operation'
  }

  /** Crossed waits of operations are normal and end; they are not examined. */
  override get graph(): WaitGraph | undefined {
    return undefined
  }

  override get isIdle(): boolean {
    return super.isIdle && this.#references.size === 0 && this.#remembered.size === 0
  }

  /** When the first success is to be forgotten. */
  get dueAtMs(): number {
    let dueAtMs = Number.POSITIVE_INFINITY
    for (const { untilMs } of this.#remembered.values()) dueAtMs = Math.min(dueAtMs, untilMs)
    return dueAtMs
  }

  override get referenceCount(): number {
    return this.#references.size
  }

  override hasReference(node: string): boolean {
    return this.#references.has(node)
  }

  override references(): Iterable<string> {
    return this.#references
  }

  addReference(node: string): void {
    this.#references.add(node)
  }

  dropReference(node: string): void {
    this.#references.delete(node)
  }

  override remembered(type: string): Remembered | undefined {
    return this.#remembered.get(type)
  }

  override everyRemembered(): Iterable<Remembered> {
    return this.#remembered.values()
  }

  remember(remembered: Remembered): void {
    this.#remembered.set(remembered.type, remembered)
  }

  forget(type: string): void {
    this.#remembered.delete(type)
  }
}
