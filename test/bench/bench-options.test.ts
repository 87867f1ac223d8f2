import { expect, it } from 'vitest'
import { parseBenchOptions } from '../../bench/bench-options.ts'
import { SCENARIO_NAMES } from '../../bench/scenario-list.ts'

it('a bench without options measures everything in full', () => {
  const { dose, scenarios } = parseBenchOptions([])
  expect(dose.name).toBe('full')
  expect(scenarios).toEqual(SCENARIO_NAMES)
})

it('a bench measures only what it is told to', () => {
  const { dose, scenarios } = parseBenchOptions([
    '--quick',
    '--only',
    'memory',
    '--only',
    'durable',
  ])
  expect(dose.name).toBe('quick')
  expect(scenarios).toEqual(['memory', 'durable'])
})

it.each([
  ['a scenario that is not there', ['--only', 'nothing'], '"nothing"'],
  ['an option that is not there', ['--fast'], '--fast'],
  ['keeping the results of a quick run', ['--quick', '--keep'], 'full run'],
  ['keeping a part of the results', ['--only', 'memory', '--keep'], 'full run'],
])('a bench refuses %s', (_, args, message) => {
  expect(() => parseBenchOptions(args)).toThrow(message)
})
