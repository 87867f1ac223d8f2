import { describe, expect, it } from 'vitest'
import type { KeyCommand } from '../../src/law/model/commands.ts'
import { decide } from '../../src/law/decide.ts'
import type { Mode, Waiter } from '../../src/law/model/view.ts'
import { countLooks } from './world/counted-view.ts'
import { LawStory } from './world/law-story.ts'
import { PlainWorld } from './world/plain-world.ts'

const NOW_MS = 1_000_000
const LANES = ['high', 'low']

function waiterAt(index: number, mode: Mode): Waiter {
  return {
    owner: `w${index}`,
    requestId: `w${index}`,
    party: `w${index}`,
    session: undefined,
    mode,
    lane: index % 2,
    upgrade: false,
    connected: true,
    ttlMs: 1_000,
    sinceMs: NOW_MS,
    deadlineAtMs: index === 1 ? NOW_MS + 500 : Infinity,
    leaseAtMs: Infinity,
    meta: undefined,
    operation: undefined,
  }
}

/** One writer holds the key; the first two of the queue read, everybody behind them writes. */
function createQueue(length: number): PlainWorld {
  const story = new LawStory({ lanes: LANES, waitersPerKeyMax: 100_000 })
  story.acquire('x', 'write', { requestId: 'x', lane: 'low', ttlMs: 800 })
  const waiters = Array.from({ length }, (_, index) =>
    waiterAt(index, index < 4 ? 'read' : 'write'),
  )
  story.world.setState({ ...story.state(), waiters })
  return story.world
}

/** What a decision costs: what it looked at, and what it changes. */
function costOf(length: number, command: KeyCommand, nowMs: number): unknown {
  const { view, looks } = countLooks(createQueue(length).view('lock', 'a'))
  const { changes, events } = decide(view, command, nowMs)
  return {
    looks: looks.byMember,
    changes: changes.map((change) => change.kind),
    events: events.length,
  }
}

describe('ten thousand waiters cost no more than ten', () => {
  const ask = { kind: 'acquire', key: 'a', owner: 'y', requestId: 'y' } as const

  it.each<[string, KeyCommand, number]>([
    ['when the lock is handed over', { kind: 'release', key: 'a', owner: 'x' }, NOW_MS],
    ['when the holder expires', { kind: 'expire' }, NOW_MS + 900],
    ['when a waiter gives up', { kind: 'expire' }, NOW_MS + 600],
    ['when a waiter leaves', { kind: 'cancel', key: 'a', owner: 'w2' }, NOW_MS],
    ['when the holder renews', { kind: 'renew', key: 'a', owner: 'x', ttlMs: 1_000 }, NOW_MS],
    ['when the holder is forced out', { kind: 'force', key: 'a' }, NOW_MS],
    ['when one more is refused', ask, NOW_MS],
    ['when one more joins', { ...ask, waitMs: 1_000 }, NOW_MS],
    ['when a waiter asks again', { ...ask, owner: 'w3', requestId: 'w3', mode: 'read' }, NOW_MS],
  ])('%s', (_, command, nowMs) => {
    expect(costOf(10_000, command, nowMs)).toEqual(costOf(10, command, nowMs))
  })

  it('and the count counts: a decision that lists the queue costs more', () => {
    const few = countLooks(createQueue(10).view('lock', 'a'))
    const many = countLooks(createQueue(100).view('lock', 'a'))
    for (const { view } of [few, many]) [...view.dueWaiters(Infinity)].length.toFixed()
    expect(many.looks.byMember['dueWaiters']).toBe(101)
    expect(few.looks.byMember['dueWaiters']).toBe(11)
  })
})
