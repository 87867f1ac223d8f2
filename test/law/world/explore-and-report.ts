import { expect } from 'vitest'
import { type Explored, explore, type Scope } from './explore.ts'

export const isLong: boolean = process.env['HOLDFAST_TEST_DOSE'] === 'long'

export const EXPLORATION_TIMEOUT_MS: number = isLong ? 3_600_000 : 600_000

/** Says how much was explored, and fails where it is less than the floor: no scope shrinks unnoticed. */
export function exploreAndReport(scope: Scope, floor: Explored): void {
  const startedAtMs = performance.now()
  const { states, transitions } = explore(scope)
  const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(1)
  const size = `${states} states, ${transitions} transitions`
  console.log(`explored ${scope.name} to depth ${scope.depth}: ${size} in ${seconds} s`)
  expect(states).toBeGreaterThanOrEqual(floor.states)
  expect(transitions).toBeGreaterThanOrEqual(floor.transitions)
}
