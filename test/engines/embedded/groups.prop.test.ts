import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Groups } from '../../../src/engines/embedded/table/groups.ts'

const VALUES = Array.from({ length: 4 }, (_, name) => ({ name }))

const steps = fc.array(
  fc.record({ isAdded: fc.boolean(), key: fc.nat(2), value: fc.constantFrom(...VALUES) }),
  { maxLength: 60 },
)

it('a group has exactly the values that were added and not deleted, in their order', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const groups = new Groups<number, (typeof VALUES)[number]>()
      const model = [0, 1, 2].map(() => new Set<(typeof VALUES)[number]>())
      for (const { isAdded, key, value } of all) {
        if (isAdded) groups.add(key, value)
        else groups.delete(key, value)
        if (isAdded) model[key]?.add(value)
        else model[key]?.delete(value)
      }
      for (const [key, values] of model.entries()) {
        expect(groups.of(key)).toEqual([...values])
        expect(groups.sizeOf(key)).toBe(values.size)
        expect(groups.has(key)).toBe(values.size > 0)
      }
      expect(groups.isEmpty).toBe(model.every(({ size }) => size === 0))
    }),
  )
})
