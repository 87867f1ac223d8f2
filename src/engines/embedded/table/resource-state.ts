import type { Namespace, Reference, Remembered, WaitGraph } from '../../../law/model/view.ts'
import type { DueItem } from './due-heap.ts'
import { KeyState } from './key-state.ts'

/** A resource: a key with references and a memory of what has been done to it. */
export class ResourceState extends KeyState implements DueItem {
  /** By node: by when it has to claim its reference, `null` once it has. */
  readonly #references = new Map<string, number | null>()
  /** References that their nodes do not know of, in the order in which they are due. */
  readonly #unclaimed = new Map<string, number>()
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

  /** When the first success is to be forgotten, or the first reference that was not claimed. */
  get dueAtMs(): number {
    let dueAtMs = Number.POSITIVE_INFINITY
    for (const claimByMs of this.#unclaimed.values()) {
      dueAtMs = claimByMs
      break
    }
    for (const { untilMs } of this.#remembered.values()) dueAtMs = Math.min(dueAtMs, untilMs)
    return dueAtMs
  }

  override get referenceCount(): number {
    return this.#references.size
  }

  override reference(node: string): Reference | undefined {
    const claimByMs = this.#references.get(node)
    return claimByMs === undefined ? undefined : { node, claimByMs }
  }

  override *references(): Iterable<Reference> {
    for (const [node, claimByMs] of this.#references) yield { node, claimByMs }
  }

  override *dueReferences(nowMs: number): Iterable<Reference> {
    for (const [node, claimByMs] of this.#unclaimed) {
      if (claimByMs > nowMs) return
      yield { node, claimByMs }
    }
  }

  /** Each is given as long as the others, so the latest is due last. */
  setReference({ node, claimByMs }: Reference): void {
    this.#references.set(node, claimByMs)
    this.#unclaimed.delete(node)
    if (claimByMs !== null) this.#unclaimed.set(node, claimByMs)
  }

  dropReference(node: string): void {
    this.#references.delete(node)
    this.#unclaimed.delete(node)
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
