import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Roster } from '../../../src/engines/embedded/table/roster.ts'

const steps = fc.array(fc.record({ enters: fc.boolean(), who: fc.integer({ min: 0, max: 20 }) }), {
  maxLength: 200,
})

it('has exactly those who entered and did not leave', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const everyone = Array.from({ length: 21 }, () => ({ rosterIndex: -1 }))
      const roster = new Roster<(typeof everyone)[number]>()
      const model = new Set<(typeof everyone)[number]>()
      for (const { enters, who } of all) {
        const one = everyone[who] as (typeof everyone)[number]
        if (enters && !model.has(one)) roster.add(one)
        if (!enters) roster.delete(one)
        if (enters) model.add(one)
        else model.delete(one)
      }
      expect(roster.size).toBe(model.size)
      expect(new Set(roster)).toEqual(model)
    }),
    { numRuns: 300 },
  )
})
