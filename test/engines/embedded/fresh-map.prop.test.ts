import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { FreshMap } from '../../../src/engines/embedded/table/fresh-map.ts'

it('a fresh map holds what a map holds, whoever comes and goes in whichever order', () => {
  const names = Array.from({ length: 41 }, (_, index) => `owner-${index}`)
  const step = fc.record({ name: fc.constantFrom(...names), comes: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const fresh = new FreshMap<{ readonly step: number }>()
      const model = new Map<string, { readonly step: number }>()
      for (const [index, { name, comes }] of steps.entries()) {
        if (comes) {
          fresh.set(name, { step: index })
          model.set(name, { step: index })
        } else {
          fresh.delete(name)
          model.delete(name)
        }
      }
      for (const name of names) {
        expect(fresh.get(name)).toEqual(model.get(name))
        expect(fresh.has(name)).toBe(model.has(name))
      }
    }),
  )
})
