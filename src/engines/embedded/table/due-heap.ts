/** Something that happens at a moment: a lease that ends, a wait that gives up. */
export interface DueItem {
  /** May move while the item is in the heap only if `update` follows at once. */
  readonly dueAtMs: number
  /** Where the item stands in its heap; -1 while it is in none. Kept by the heap. */
  heapIndex: number
}

/**
 * What comes due, soonest first: a binary heap in which every item knows its place, so that a lease
 * that is released leaves at once. There is no timer per lease; the engine has one, for the top.
 *
 * Leases of one length arrive in the order in which they end, so adding one is a single comparison.
 */
export class DueHeap {
  readonly #items: DueItem[] = []

  get size(): number {
    return this.#items.length
  }

  peek(): DueItem | undefined {
    return this.#items[0]
  }

  /** Put the item where its moment belongs; one that never comes due is taken out. */
  update(item: DueItem): void {
    if (item.dueAtMs === Number.POSITIVE_INFINITY) {
      this.remove(item)
      return
    }
    if (item.heapIndex < 0) {
      item.heapIndex = this.#items.length
      this.#items.push(item)
      this.#up(item)
    } else if (!this.#up(item)) {
      this.#down(item)
    }
  }

  remove(item: DueItem): void {
    const index = item.heapIndex
    if (index < 0) return
    const last = this.#items.pop()
    item.heapIndex = -1
    if (last === undefined || last === item) return
    this.#place(last, index)
    if (!this.#up(last)) this.#down(last)
  }

  #place(item: DueItem, index: number): void {
    this.#items[index] = item
    item.heapIndex = index
  }

  #up(item: DueItem): boolean {
    const start = item.heapIndex
    let index = start
    const { dueAtMs } = item
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#items[parentIndex] as DueItem
      if (parent.dueAtMs <= dueAtMs) break
      this.#place(parent, index)
      index = parentIndex
    }
    if (index === start) return false
    this.#place(item, index)
    return true
  }

  #down(item: DueItem): void {
    const { dueAtMs } = item
    const { length } = this.#items
    let index = item.heapIndex
    for (let childIndex = 2 * index + 1; childIndex < length; childIndex = 2 * index + 1) {
      let child = this.#items[childIndex] as DueItem
      const right = this.#items[childIndex + 1]
      if (right !== undefined && right.dueAtMs < child.dueAtMs) {
        child = right
        childIndex += 1
      }
      if (child.dueAtMs >= dueAtMs) break
      this.#place(child, index)
      index = childIndex
    }
    this.#place(item, index)
  }
}
