import { expect, it } from 'vitest'
import { checkRuns, LANES, lockCommand } from './naive/random-run.ts'
import { type RandomStep, randomSteps } from './naive/random-steps.ts'

const settings = { lanes: LANES }

function checkSteps(check: (step: RandomStep) => void): void {
  checkRuns(lockCommand, (run) => {
    for (const step of randomSteps(run, { namespace: 'lock', settings })) check(step)
  })
}

it('at no instant do two owners hold a key unless both hold read', () => {
  let crowded = 0
  checkSteps(({ after: { holds } }) => {
    if (holds.length < 2) return
    crowded += 1
    expect(holds.every((hold) => hold.writes === 0)).toBe(true)
  })
  expect(crowded).toBeGreaterThan(100)
})

it('tokens of a key strictly increase in grant order, and re-entry keeps them', () => {
  const known = new WeakMap<object, Map<string, number>>()
  let grants = 0
  checkSteps(({ before, after, place, pair }) => {
    const highest = known.get(pair) ?? new Map<string, number>()
    known.set(pair, highest)
    const last = highest.get(place.key) ?? 0
    const standing = new Map(before.holds.map((hold) => [hold.token, hold.owner]))
    // An upgrade that was undone unheard gives its token back; that is no grant.
    const givenBack = new Map(
      before.holds.flatMap(({ owner, steps }) => steps.map((step) => [step.tokenBefore, owner])),
    )
    const fresh = after.holds.filter(
      ({ token, owner }) => standing.get(token) !== owner && givenBack.get(token) !== owner,
    )
    for (const hold of fresh) expect(hold.token).toBeGreaterThan(last)
    highest.set(place.key, Math.max(last, ...fresh.map((hold) => hold.token)))
    grants += fresh.length
  })
  expect(grants).toBeGreaterThan(500)
})

it('counts are the steps, and a hold ends exactly when both are zero', () => {
  let endings = 0
  checkSteps(({ command, after, decision }) => {
    for (const hold of after.holds) {
      expect(hold.reads).toBe(hold.steps.filter((step) => step.mode === 'read').length)
      expect(hold.writes).toBe(hold.steps.filter((step) => step.mode === 'write').length)
      expect(hold.reads + hold.writes).toBeGreaterThan(0)
    }
    if (command.kind !== 'release' || decision.outcome.kind !== 'released') return
    const { reads, writes } = decision.outcome
    const isReplay = !decision.changes.some((change) => change.kind.startsWith('hold-'))
    if (isReplay) return
    // Its token may be a new one all the same: what has expired first may have made it the writer.
    const hasEnded = decision.changes.some(
      (change) => change.kind === 'hold-ended' && change.hold.owner === command.owner,
    )
    expect(hasEnded).toBe(reads + writes === 0)
    endings += 1
  })
  expect(endings).toBeGreaterThan(100)
})

it('an upgrade succeeds only for a sole reader, with a new token', () => {
  let upgrades = 0
  checkSteps(({ before, after }) => {
    for (const hold of after.holds) {
      const was = before.holds.find((other) => other.owner === hold.owner)
      const isUpgrade = was?.writes === 0 && hold.writes > 0 && hold.sinceMs === was.sinceMs
      if (!isUpgrade) continue
      upgrades += 1
      expect(after.holds).toHaveLength(1)
      expect(hold.token).toBeGreaterThan(was.token)
    }
  })
  expect(upgrades).toBeGreaterThan(20)
})

it('a lease is never shortened, and nobody holds past it', () => {
  checkSteps(({ before, after, nowMs }) => {
    for (const hold of after.holds) {
      expect(hold.leaseAtMs).toBeGreaterThan(nowMs)
      const was = before.holds.find((other) => other.token === hold.token)
      if (was) expect(hold.leaseAtMs).toBeGreaterThanOrEqual(was.leaseAtMs)
    }
  })
})

it('an idle key keeps nothing but its token and the ends of requests', () => {
  let idle = 0
  checkSteps(({ after }) => {
    if (after.holds.length + after.waiters.length > 0) return
    idle += 1
    expect(after.passes.every((passes) => passes === 0)).toBe(true)
    expect(after.references).toEqual([])
    expect(after.remembered).toEqual([])
  })
  expect(idle).toBeGreaterThan(100)
})
