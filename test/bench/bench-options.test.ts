import { expect, it } from 'vitest'
import { parseBenchOptions } from '../../bench/bench-options.ts'
import { SCENARIO_GROUPS, SCENARIO_NAMES } from '../../bench/scenario-list.ts'

it('a bench without options measures everything in full', () => {
  const { dose, scenarios, who, keep } = parseBenchOptions([])
  expect(dose.name).toBe('full')
  expect(scenarios).toEqual(SCENARIO_NAMES)
  expect([...who, ...keep]).toEqual([])
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

it('a bench measures a group of scenarios by one name', () => {
  const { scenarios, who } = parseBenchOptions(['--only', 'network', '--who', 'redlock'])
  expect(scenarios).toEqual(SCENARIO_GROUPS.network)
  expect(scenarios.length).toBeGreaterThan(1)
  expect(who).toEqual(['redlock'])
})

it.each([
  [['--keep'], ['in-process', 'network', 'sql']],
  [['--keep', '--only', 'network'], ['network']],
])('a bench keeps the groups that it measured in full: %j', (args, groups) => {
  expect(parseBenchOptions(args).keep).toEqual(groups)
})

it.each([
  ['a scenario that is not there', ['--only', 'nothing'], '"nothing"'],
  ['an option that is not there', ['--fast'], '--fast'],
  ['keeping the results of a quick run', ['--quick', '--keep'], 'full run'],
  ['keeping a part of a group', ['--only', 'memory', '--keep'], 'full run'],
  ['an older build that is not there', ['--before', 'nowhere'], 'no build'],
  ['keeping some of the contestants', ['--who', 'redlock', '--keep'], 'full run'],
])('a bench refuses %s', (_, args, message) => {
  expect(() => parseBenchOptions(args)).toThrow(message)
})
