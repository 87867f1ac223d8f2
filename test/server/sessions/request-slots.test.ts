import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RequestSlots } from '../../../src/server/sessions/request-slots.ts'

it('slots keep what a map keeps, in the order of their keys', () => {
  const steps = fc.array(
    fc.record({ kind: fc.constantFrom('set', 'delete', 'clear'), key: fc.nat(8), value: fc.nat() }),
  )
  fc.assert(
    fc.property(steps, (all) => {
      const slots = new RequestSlots<number>()
      const model = new Map<number, number>()
      for (const { kind, key, value } of all) {
        if (kind === 'set') {
          slots.set(key, value)
          model.set(key, value)
        } else if (kind === 'delete') {
          expect(slots.delete(key)).toBe(model.delete(key))
        } else if (key === 0) {
          slots.clear()
          model.clear()
        }
        const inOrder = [...model].toSorted(([one], [other]) => one - other)
        expect([...slots.values()]).toEqual(inOrder.map(([, kept]) => kept))
        expect(slots.size).toBe(model.size)
        for (let each = 0; each <= 8; each += 1) expect(slots.get(each)).toBe(model.get(each))
      }
    }),
  )
})
