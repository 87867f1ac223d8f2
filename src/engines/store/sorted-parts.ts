import { compareNames } from '../../engine/validation/names.ts'
import type { Part, PartRange } from './key-store.ts'

/** The parts of one group, in the order of their ids. */
export class SortedParts {
  readonly #parts: Part[]

  constructor(parts: readonly Part[] = []) {
    this.#parts = [...parts]
  }

  get size(): number {
    return this.#parts.length
  }

  find(id: string): Part | undefined {
    const part = this.#parts[this.#indexOf(id)]
    return part?.id === id ? part : undefined
  }

  all(): readonly Part[] {
    return this.#parts
  }

  range(range: PartRange, limit: number): readonly Part[] {
    const { first, end } = this.#borders(range)
    return this.#parts.slice(first, Math.min(end, first + limit))
  }

  count(range: PartRange): number {
    const { first, end } = this.#borders(range)
    return Math.max(0, end - first)
  }

  put(part: Part): void {
    const index = this.#indexOf(part.id)
    this.#parts.splice(index, this.#parts[index]?.id === part.id ? 1 : 0, part)
  }

  remove(id: string): void {
    const index = this.#indexOf(id)
    if (this.#parts[index]?.id === id) this.#parts.splice(index, 1)
  }

  #borders({ after, before }: PartRange): { readonly first: number; readonly end: number } {
    const first = after === undefined ? 0 : this.#indexOf(after)
    const isAfter = this.#parts[first]?.id === after
    const end = before === undefined ? this.#parts.length : this.#indexOf(before)
    return { first: isAfter ? first + 1 : first, end }
  }

  /** Of the first part that is not before this id. */
  #indexOf(id: string): number {
    let low = 0
    let high = this.#parts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const part = this.#parts[middle]
      if (part !== undefined && compareNames(part.id, id) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
