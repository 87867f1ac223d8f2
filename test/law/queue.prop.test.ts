import { expect, it } from 'vitest'
import { LANE_PASSES_MAX } from '../../src/law/model/limits.ts'
import type { Waiter } from '../../src/law/model/view.ts'
import { checkRuns, LANES, lockCommand } from './naive/random-run.ts'
import { type RandomStep, randomSteps } from './naive/random-steps.ts'

const settings = { lanes: LANES }

function nameOf({ owner, requestId }: Pick<Waiter, 'owner' | 'requestId'>): string {
  return `${owner}/${requestId}`
}

/** Waiters that were granted by the queue itself: their owner held nothing when the step began. */
function grantedStrangers({ before, decision }: RandomStep): readonly Waiter[] {
  const holders = new Set(before.holds.map((hold) => hold.owner))
  const first = new Set<string>()
  return decision.changes.flatMap((change) => {
    if (change.kind !== 'waiter-gone' || change.answer.kind !== 'granted') return []
    const { owner } = change.waiter
    if (holders.has(owner) || first.has(owner) || isAnsweredItself(decision, owner)) return []
    first.add(owner)
    return [change.waiter]
  })
}

function isAnsweredItself({ outcome, changes }: RandomStep['decision'], owner: string): boolean {
  if (outcome.kind !== 'granted') return false
  const [first] = changes.filter((change) => change.kind === 'hold-set')
  return first?.hold.owner === owner
}

it('within a lane grants follow arrival, leaving out those that left', () => {
  let grants = 0
  checkRuns(lockCommand, (run) => {
    const arrivals = new Map<string, string[]>()
    for (const step of randomSteps(run, { namespace: 'lock', settings })) {
      const laneOf = (waiter: Waiter): string => `${step.place.key} ${waiter.lane}`
      for (const waiter of grantedStrangers(step)) {
        grants += 1
        const lane = arrivals.get(laneOf(waiter)) ?? []
        const own = lane.filter((name) => name.startsWith(`${waiter.owner}/`))
        expect(own).toContain(nameOf(waiter))
        const ahead = lane.slice(0, lane.indexOf(nameOf(waiter)))
        const still = new Set(step.after.waiters.filter((one) => !one.upgrade).map(nameOf))
        expect(ahead.filter((name) => still.has(name))).toEqual([])
      }
      for (const change of step.decision.changes) {
        if (change.kind === 'waiter-gone') {
          const lane = arrivals.get(laneOf(change.waiter)) ?? []
          arrivals.set(
            laneOf(change.waiter),
            lane.filter((name) => name !== nameOf(change.waiter)),
          )
        } else if (change.kind === 'waiter-added') {
          const lane = arrivals.get(laneOf(change.waiter)) ?? []
          arrivals.set(laneOf(change.waiter), [...lane, nameOf(change.waiter)])
        }
      }
    }
  })
  expect(grants).toBeGreaterThan(200)
})

it('nobody waits for a key that nobody holds', () => {
  let waits = 0
  checkRuns(lockCommand, (run) => {
    for (const { after } of randomSteps(run, { namespace: 'lock', settings })) {
      waits += after.waiters.length
      if (after.holds.length === 0) expect(after.waiters).toEqual([])
    }
  })
  expect(waits).toBeGreaterThan(1_000)
})

it('where only readers hold, whoever is next wants to write', () => {
  let blocked = 0
  checkRuns(lockCommand, (run) => {
    for (const { after } of randomSteps(run, { namespace: 'lock' })) {
      const isReadOnly = after.holds.length > 0 && after.holds.every((hold) => hold.writes === 0)
      const head = after.waiters.find((waiter) => waiter.upgrade) ?? after.waiters[0]
      if (!isReadOnly || head === undefined) continue
      blocked += 1
      expect(head.mode).toBe('write')
    }
  })
  expect(blocked).toBeGreaterThan(100)
})

/** Counts, for one key, the grants in a row that passed each lane while somebody waited there. */
function countPassed(passed: number[], granted: Waiter, waiters: readonly Waiter[]): number[] {
  return passed.map((count, lane) => {
    const isWaiting = waiters.some((other) => !other.upgrade && other.lane === lane)
    if (!isWaiting || lane === granted.lane) return 0
    return lane > granted.lane ? count + 1 : count
  })
}

it('no lane is passed by more than eight grants in a row while it waits', () => {
  let most = 0
  checkRuns(lockCommand, (run) => {
    const passed = new Map<string, number[]>()
    for (const step of randomSteps(run, { namespace: 'lock', settings })) {
      const { key } = step.place
      for (const granted of grantedStrangers(step)) {
        const before = passed.get(key) ?? LANES.map(() => 0)
        passed.set(key, countPassed(before, granted, step.after.waiters))
      }
      most = Math.max(most, ...(passed.get(key) ?? []))
    }
    expect(most).toBeLessThanOrEqual(LANE_PASSES_MAX)
  })
  expect(most).toBeGreaterThan(2)
})
