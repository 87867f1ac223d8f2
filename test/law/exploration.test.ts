import { describe, it } from 'vitest'
import { EXPLORATION_TIMEOUT_MS, exploreAndReport, isLong } from './world/explore-and-report.ts'
import {
  createClaimScope,
  createDeadlockScope,
  createLaneScope,
  createLateReplayScope,
  createLockScope,
  createReplayScope,
} from './world/lock-scopes.ts'

describe('law and naive model agree on every way that', () => {
  const timeout = EXPLORATION_TIMEOUT_MS

  it('three owners can take through one lock', { timeout }, () => {
    exploreAndReport(createLockScope(isLong ? 8 : 7), { states: 28_000, transitions: 210_000 })
  })

  it('waiters who only ask now and then can take', { timeout }, () => {
    exploreAndReport(createClaimScope(isLong ? 7 : 6), { states: 24_000, transitions: 138_000 })
  })

  it('two owners who use the same request ids again can take', { timeout }, () => {
    exploreAndReport(createReplayScope(isLong ? 6 : 5), { states: 23_000, transitions: 109_000 })
  })

  it('retries can take while a lease ends', { timeout }, () => {
    exploreAndReport(createLateReplayScope(isLong ? 5 : 4), { states: 17_000, transitions: 78_000 })
  })

  it('lanes can take when the turn of a lower one is near', { timeout }, () => {
    exploreAndReport(createLaneScope(isLong ? 6 : 5), { states: 20_000, transitions: 32_000 })
  })

  it('three owners can take who wait for two keys at once', { timeout }, () => {
    exploreAndReport(createDeadlockScope(isLong ? 7 : 6), { states: 22_000, transitions: 111_000 })
  })
})
