import { describe, expect, it } from 'vitest'
import type { CheckOptions } from '../../../src/testing/checks/check-options.ts'
import { gatherEvidence } from '../../../src/testing/checks/evidence.ts'
import { checkExclusion } from '../../../src/testing/checks/exclusion.ts'
import { Story } from './story.ts'

const EXACT: CheckOptions = { clockRateError: 0 }
const lease = { ttlMs: 100 }

function expectFine(story: Story, options = EXACT): void {
  expect(checkExclusion(gatherEvidence(story.records, options))).toEqual([])
}

function expectOverlap(story: Story, options = EXACT): void {
  const violations = checkExclusion(gatherEvidence(story.records, options))
  expect(violations.map(({ property }) => property)).toEqual(['exclusion'])
  expect(violations[0]?.entries).toHaveLength(2)
}

describe('exclusion', () => {
  it('is kept by a hand-over, even if the next is told before the release returns', () => {
    expectFine(
      new Story().acquire('a', [0, 1], lease).release('a', [5, 9]).acquire('b', [2, 8], lease),
    )
  })

  it('takes a release under an id that looks like the number of another for one of its own', () => {
    expectFine(
      new Story()
        .acquire('a', [0, 1], { ...lease, token: 1 })
        .acquire('a', [2, 3], { ...lease, token: 1 })
        .release('a', [4, 5])
        .release('a', [6, 7], { reqId: '2' })
        .acquire('b', [8, 9], { ...lease, token: 2 }),
    )
  })

  it('takes a release that is sent again under its id for one', () => {
    expectOverlap(
      new Story()
        .acquire('a', [0, 1], { ...lease, token: 1 })
        .acquire('a', [2, 3], { ...lease, token: 1 })
        .release('a', [4, 5], { reqId: 'r' })
        .release('a', [6, 7], { reqId: 'r' })
        .acquire('b', [8, 9], { ...lease, token: 2 }),
    )
  })

  it('is broken by a second writer within the lease', () => {
    expectOverlap(new Story().acquire('a', [0, 1], lease).acquire('b', [50, 51], lease))
  })

  it('is kept by a second writer after the lease, counted from the call', () => {
    expectFine(new Story().acquire('a', [0, 90], lease).acquire('b', [99, 100], lease))
    expectOverlap(new Story().acquire('a', [0, 90], lease).acquire('b', [98, 99], lease))
  })

  it('allows for clocks that run at slightly different rates', () => {
    const story = new Story().acquire('a', [0, 1], lease).acquire('b', [98, 99.5], lease)
    expectOverlap(story, { clockRateError: 0 })
    expectFine(story, { clockRateError: 0.01 })
  })

  it('is prolonged by a renewal, counted from its call', () => {
    const renewed = (): Story =>
      new Story().acquire('a', [0, 1], lease).op(['renew', 'a'], [90, 95], lease)
    expectOverlap(renewed().acquire('b', [180, 189], lease))
    expectFine(renewed().acquire('b', [180, 190], lease))
  })

  it('is not prolonged by a renewal that was refused or got lost', () => {
    const acquired = (): Story => new Story().acquire('a', [0, 1], lease)
    expectFine(acquired().op(['renew', 'a'], [90, Infinity], lease).acquire('b', [100, 120], lease))
    expectFine(
      acquired().refused(['renew', 'a'], [90, 91], 'not_holder').acquire('b', [95, 120], lease),
    )
  })

  it('lets readers be together, but no writer with them', () => {
    const readers = (): Story =>
      new Story()
        .acquire('a', [0, 1], { mode: 'read', ...lease })
        .acquire('b', [0, 2], { mode: 'read', ...lease })
    expectFine(readers())
    const violations = checkExclusion(
      gatherEvidence(readers().acquire('c', [5, 6], lease).records, EXACT),
    )
    expect(violations).toHaveLength(2)
  })

  it('counts the steps of a re-entrant hold', () => {
    const twice = (): Story =>
      new Story()
        .acquire('a', [0, 1], { token: 1 })
        .acquire('a', [2, 3], { token: 1 })
        .release('a', [10, 11])
    expectOverlap(twice().acquire('b', [20, 21]))
    expectFine(twice().release('a', [15, 16]).acquire('b', [20, 21]))
  })

  it('counts a retried release once', () => {
    const story = new Story()
      .acquire('a', [0, 1], { token: 1 })
      .acquire('a', [2, 3], { token: 1 })
      .release('a', [10, Infinity], { reqId: 'r' })
      .release('a', [12, 13], { reqId: 'r' })
    expectOverlap(story.acquire('b', [20, 21]))
  })

  it('ends only the writing when a writer becomes a reader', () => {
    const downgraded = (): Story =>
      new Story()
        .acquire('a', [0, 1], { mode: 'read', token: 1 })
        .acquire('a', [2, 3], { mode: 'write', token: 2 })
        .release('a', [10, 11], { mode: 'write' })
    expectFine(downgraded().acquire('b', [12, 13], { mode: 'read' }))
    expectOverlap(downgraded().acquire('b', [12, 13], { mode: 'write' }))
    expectOverlap(downgraded().acquire('b', [5, 6], { mode: 'read' }))
  })

  it('ends with what ends a hold from outside', () => {
    const ended = [
      new Story().acquire('a', [0, 1]).op(['force', 'operator'], [5, 6]),
      new Story().acquire('a', [0, 1]).mark('lost', 5, { owner: 'a' }),
      new Story()
        .acquire('a', [0, 1], { session: 's' })
        .op(['session', 'a'], [5, 6], { session: 's', action: 'end', key: undefined }),
      new Story().acquire('a', [0, 3], { reqId: 'r' }).op(['cancel', 'a'], [2, 4], { reqId: 'r' }),
    ]
    for (const story of ended) expectFine(story.acquire('b', [7, 8]))
  })

  it('is not ended by a release or force that was refused, nor by one of another owner', () => {
    const kept = [
      new Story().acquire('a', [0, 1]).refused(['force', 'operator'], [5, 6], 'forbidden'),
      new Story().acquire('a', [0, 1]).refused(['release', 'a'], [5, 6], 'stale_token'),
      new Story().acquire('a', [0, 1]).op(['force', 'operator'], [5, 6], { owner: 'other' }),
      new Story().acquire('a', [0, 1]).mark('lost', 5, { owner: 'a', token: 9, key: 'other' }),
      new Story().acquire('a', [0, 1]).op(['release', 'a'], [5, 6], { key: 'other' }),
    ]
    for (const story of kept) expectOverlap(story.acquire('b', [7, 8]))
  })

  it('outlives a broken connection by the grace, and not longer', () => {
    const cut = (at: number): Story =>
      new Story().acquire('a', [0, 1]).mark('disconnect', 10, { proc: 'a' }).acquire('b', [2, at])
    expectOverlap(cut(14), { ...EXACT, sessionGraceMs: 5 })
    expectFine(cut(15), { ...EXACT, sessionGraceMs: 5 })
  })

  it('follows the heartbeats of a session: leases are renewed, trust ends with the grace', () => {
    const beating = (at: number, keepsLeases = true): Story =>
      new Story()
        .op(['session', 'a'], [0, 1], { session: 's', action: 'open', ttlMs: 40, keepsLeases })
        .acquire('a', [2, 3], { session: 's', ttlMs: 30 })
        .op(['session', 'a'], [25, 26], { session: 's', action: 'beat', ttlMs: 40 })
        .acquire('b', [4, at], lease)
    expectOverlap(beating(54))
    expectFine(beating(55))
    expectOverlap(beating(31, false))
    expectFine(beating(32, false))
  })

  it('keeps locks and operations of one name apart, and operations of one resource together', () => {
    expectFine(new Story().acquire('a', [0, 1]).begin('pull:n1', [2, 3]))
    expectOverlap(new Story().begin('pull:n1', [0, 1]).begin('update:n2', [2, 3]))
    expectFine(
      new Story().begin('pull:n1', [0, 1]).finish('pull:n1', [2, 5]).begin('update:n2', [2, 4]),
    )
  })

  it('says nothing about requests that were never told of a grant', () => {
    const story = new Story()
      .acquire('a', [0, 1])
      .acquire('b', [2, Infinity])
      .acquire('c', [2, 3], { answer: 'queued', position: 1 })
      .refused(['acquire', 'd'], [2, 3], 'held')
    expectFine(story)
  })

  it('sees a grant that came after polling', () => {
    const story = new Story()
      .acquire('a', [0, 1])
      .acquire('b', [2, 3], { reqId: 'r', answer: 'queued' })
      .acquire('b', [4, 5], { reqId: 'r', answer: 'granted' })
    expectOverlap(story)
  })
})
