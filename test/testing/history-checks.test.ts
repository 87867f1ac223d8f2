import { describe, expect, it } from 'vitest'
import type { CheckOptions } from '../../src/testing/checks/check-options.ts'
import type { Property } from '../../src/testing/checks/violation.ts'
import type { History } from '../../src/testing/history.ts'
import { checkHistory } from '../../src/testing/history-checks.ts'
import { Story } from './checks/story.ts'
import type { LockBug } from './toy-lock.ts'
import type { ResourceBug } from './toy-resource.ts'
import { recordLockRun, recordResourceRun } from './toy-run.ts'

/** A fresh seed for every run; set it to replay a failure. */
const SEED = process.env['HOLDFAST_SEED'] ?? String(Date.now())
const SEEDS = Array.from({ length: 12 }, (_, run) => `${SEED}-${run}`)

/** The clients of the toys and the toys themselves share one clock. */
const OPTIONS: CheckOptions = { clockRateError: 0 }

describe('a history of something that obeys the law', () => {
  it.each(SEEDS)('passes for a lock, seed %s', async (seed) => {
    const report = checkHistory(await recordLockRun(seed, null), OPTIONS)
    expect(report.violations).toEqual([])
    expect(report.verdict).toBe('pass')
    expect(report.counts.ok).toBeGreaterThan(50)
  })

  it.each(SEEDS)('passes for a resource, seed %s', async (seed) => {
    const report = checkHistory(await recordResourceRun(seed, null), OPTIONS)
    expect(report.violations).toEqual([])
    expect(report.verdict).toBe('pass')
    expect(report.counts.ok).toBeGreaterThan(15)
  })
})

/** Those of the properties that were not found violated in any of thirty runs. */
async function collectUnseen(
  properties: readonly Property[],
  record: (seed: string) => Promise<History>,
): Promise<Property[]> {
  const unseen = new Set(properties)
  for (let run = 0; run < 30 && unseen.size > 0; run++) {
    const { violations } = checkHistory(await record(`bug-${run}`), OPTIONS)
    for (const { property } of violations) unseen.delete(property)
  }
  return [...unseen]
}

describe('a history of something that breaks the law', () => {
  const lockBugs: [LockBug, Property[]][] = [
    ['two writers', ['exclusion', 'linearizability']],
    ['a token used again', ['fencing', 'linearizability']],
    ['a token going back', ['fencing', 'linearizability']],
    ['a lease cut short', ['no-early-expiry', 'exclusion', 'conservation', 'linearizability']],
    ['a reader passing a waiting writer', ['queue-order']],
    ['last come, first served', ['queue-order']],
    ['a retry counted again', ['at-most-once', 'linearizability']],
    ['a late grant after a time-out', ['no-ghost']],
    ['a new token on re-entry', ['fencing', 'linearizability']],
    ['the old token after an upgrade', ['fencing', 'linearizability']],
    ['an upgrade beside readers', ['exclusion', 'linearizability']],
    ['a downgrade that lets go', ['exclusion', 'no-early-expiry']],
    ['a renewal that revives', ['linearizability']],
    ['a release by anybody', ['exclusion', 'no-early-expiry', 'linearizability']],
    ['busy although free', ['linearizability']],
    ['a hold that vanishes', ['conservation', 'exclusion', 'no-early-expiry']],
  ]
  it.each(lockBugs)('fails for %s', async (bug, properties) => {
    expect(await collectUnseen(properties, (seed) => recordLockRun(seed, bug))).toEqual([])
  })

  const resourceBugs: [ResourceBug, Property[]][] = [
    ['a skip after a delete', ['skip']],
    ['a skip after a failure', ['skip']],
    ['a skip of another version', ['skip']],
    ['a skip with a wrong value', ['skip']],
    ['a skip without a reference', ['references', 'delete', 'linearizability']],
    ['an unref that drops all', ['references', 'delete', 'linearizability']],
    ['a reference per pull', ['references', 'linearizability']],
    ['a delete of what is in use', ['delete', 'linearizability']],
    ['in use by nobody', ['delete', 'linearizability']],
    ['work done twice', ['skip']],
  ]
  it.each(resourceBugs)('fails for %s', async (bug, properties) => {
    expect(await collectUnseen(properties, (seed) => recordResourceRun(seed, bug))).toEqual([])
  })
})

describe('the verdict', () => {
  const good = (): Story => new Story().acquire('a', [0, 1], { token: 1 }).release('a', [2, 3])

  it('counts what was looked at', () => {
    const { counts } = checkHistory(
      good().acquire('b', [4, Infinity]).refused(['acquire', 'c'], [1, 2], 'held').mark('pause', 0)
        .records,
    )
    expect(counts).toMatchObject({ operations: 4, ok: 2, fail: 1, info: 1, faults: 1, searches: 1 })
  })

  it('is unknown, and no pass, when a search runs out of budget', () => {
    const report = checkHistory(good().records, { stepsMax: 1 })
    expect(report).toMatchObject({
      verdict: 'unknown',
      violations: [],
      undecided: ['lock "k" as a lock'],
    })
  })

  it('is a failure where nothing happened', () => {
    expect(checkHistory([])).toMatchObject({
      verdict: 'fail',
      violations: [{ property: 'success-rate' }],
    })
  })

  it('is a failure where too little went well', () => {
    const story = good()
    for (let i = 0; i < 20; i++) story.refused(['acquire', `c${i}`], [1.5, 2.5], 'held')
    expect(checkHistory(story.records).violations).toMatchObject([{ property: 'success-rate' }])
    expect(checkHistory(story.records, { successRatioMin: 0.05 }).verdict).toBe('pass')
  })

  it('is a failure where nothing went well after the last fault', () => {
    const story = good().mark('kill', 10)
    expect(checkHistory(story.records).violations).toMatchObject([{ property: 'success-rate' }])
    expect(checkHistory(story.acquire('b', [11, 12], { token: 2 }).records).verdict).toBe('pass')
  })

  it('does not take what was merely seen for a fault', () => {
    expect(checkHistory(good().mark('lost', 10, { owner: 'x' }).records).verdict).toBe('pass')
  })
})
