import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DueHeap } from '../../../src/engines/embedded/table/due-heap.ts'

class Item {
  heapIndex = -1
  dueAtMs: number

  constructor(dueAtMs: number) {
    this.dueAtMs = dueAtMs
  }
}

const step = fc.record({
  which: fc.nat(15),
  what: fc.constantFrom('update', 'remove', 'pop'),
  dueAtMs: fc.oneof(fc.nat(50), fc.constant(Number.POSITIVE_INFINITY)),
})

it('the top is always the soonest, through every order of adding, moving and removing', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const heap = new DueHeap()
      const items = Array.from({ length: 16 }, () => new Item(0))
      const inside = new Set<Item>()
      for (const { which, what, dueAtMs } of steps) {
        const item = what === 'pop' ? heap.peek() : items[which]
        if (item instanceof Item && what === 'update') {
          item.dueAtMs = dueAtMs
          heap.update(item)
          if (dueAtMs === Number.POSITIVE_INFINITY) inside.delete(item)
          else inside.add(item)
        } else if (item instanceof Item) {
          heap.remove(item)
          inside.delete(item)
        }
        expect(heap.size).toBe(inside.size)
        const soonest = Math.min(...[...inside].map((one) => one.dueAtMs))
        expect(heap.peek()?.dueAtMs ?? Number.POSITIVE_INFINITY).toBe(soonest)
        for (const one of items) expect(one.heapIndex >= 0).toBe(inside.has(one))
      }
    }),
    { numRuns: 300 },
  )
})
