import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Lane } from '../../../src/engines/embedded/table/lane.ts'
import type { WaiterRecord } from '../../../src/engines/embedded/table/waiter-record.ts'

/** A lane looks at nothing of a waiter but its place and its neighbours. */
function createWaiter(): WaiterRecord {
  return { place: -1, before: undefined, behind: undefined } as WaiterRecord
}

it('a lane that waiters leave anywhere answers as a plain list does', () => {
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.constant(-1) },
    { weight: 2, arbitrary: fc.nat(400) },
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 600 }), (actions) => {
      const lane = new Lane()
      const list: WaiterRecord[] = []
      for (const which of actions) {
        const leaving = which < 0 ? undefined : list[which % Math.max(1, list.length)]
        if (leaving !== undefined) {
          lane.remove(leaving)
          list.splice(list.indexOf(leaving), 1)
        } else {
          const waiter = createWaiter()
          lane.push(waiter)
          list.push(waiter)
        }
        expect(lane.length).toBe(list.length)
        expect(lane.head).toBe(list[0])
      }
      expect([...lane].every((waiter, index) => waiter === list[index])).toBe(true)
      for (const [index, waiter] of list.entries()) {
        expect(lane.ahead(waiter)).toBe(index)
        expect(waiter.behind === list[index + 1]).toBe(true)
      }
    }),
    { numRuns: 200 },
  )
})
