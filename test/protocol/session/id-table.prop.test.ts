import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { IdTable } from '../../../src/protocol/session/id-table.ts'

interface Step {
  readonly verb: 'add' | 'take'
  readonly id: number
}

const steps = fc.array(
  fc.record({
    verb: fc.constantFrom<Step['verb']>('add', 'add', 'take'),
    // Few enough to meet again, far enough apart to share slots.
    id: fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 2 ** 40, max: 2 ** 40 + 300 }),
    ),
  }),
  { maxLength: 1_000 },
)

function run(table: IdTable<{ readonly id: number }>, { verb, id }: Step): boolean {
  if (verb === 'take') return table.take(id) !== undefined
  if (table.has(id)) return false
  table.add({ id })
  return true
}

it('holds what was added and not taken, and finds each by its number', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const table = new IdTable<{ readonly id: number }>()
      const model = new Set<number>()
      for (const step of all) {
        const isNews = step.verb === 'add' ? !model.has(step.id) : model.has(step.id)
        expect(run(table, step)).toBe(isNews)
        if (step.verb === 'add') model.add(step.id)
        else model.delete(step.id)
      }
      const ids = [...model].toSorted((a, b) => a - b)
      expect(table.size).toBe(model.size)
      expect(table.sorted().map(({ id }) => id)).toEqual(ids)
      for (const id of ids) expect(table.get(id)).toEqual({ id })
    }),
    { numRuns: 300 },
  )
})

it('has nothing in it after it was cleared', () => {
  const table = new IdTable<{ readonly id: number }>()
  for (let id = 1; id <= 1_000; id += 1) table.add({ id })
  table.clear()
  expect(table.size).toBe(0)
  expect(table.sorted()).toEqual([])
  expect(table.get(1)).toBeUndefined()
})
