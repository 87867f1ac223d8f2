import { describe, expect, it } from 'vitest'
import type { HistoryEntry, HistoryQuery } from '../../../../src/engine/queries.ts'
import { RecentEnds } from '../../../../src/engines/embedded/history/recent-ends.ts'
import { HISTORY_KEPT_MS } from '../../../../src/engine/history-rules.ts'
import { Random } from '../../../../src/testing/random.ts'

function entry(key: string, token: number, toMs = 1_000 + token): HistoryEntry {
  const about = { namespace: 'lock', key, owner: 'o', mode: 'write', end: 'released' } as const
  return { ...about, token, fromMs: toMs - 1, toMs }
}

function tokens(ends: RecentEnds, query: Omit<HistoryQuery, 'kind'> = {}): number[] {
  return ends.find(query, 10_000).map(({ token }) => token)
}

/** Oldest first. */
function all(ends: RecentEnds): HistoryEntry[] {
  return ends.find({ limit: Number.POSITIVE_INFINITY }, 10_000).reverse()
}

describe('the recent ends', () => {
  it('are shown newest first, of all keys or of one', () => {
    const ends = new RecentEnds()
    for (const [index, key] of ['a', 'b', 'a'].entries()) ends.add(entry(key, index))
    expect(tokens(ends)).toEqual([2, 1, 0])
    expect(tokens(ends, { key: 'a' })).toEqual([2, 0])
    expect(tokens(ends, { limit: 1 })).toEqual([2])
  })

  it('are the last of each key and of all, whatever comes in', () => {
    const random = new Random('history')
    const ends = new RecentEnds({ perKeyMax: 5, entriesMax: 20 })
    let model: HistoryEntry[] = []
    for (let token = 0; token < 3_000; token += 1) {
      const added = entry(random.pick(['a', 'b', 'c', `rare-${token}`]), token, 1_000)
      ends.add(added)
      model.push(added)
      const ofKey = model.filter(({ key }) => key === added.key)
      if (ofKey.length > 5) model = model.filter((one) => one !== ofKey[0])
      model = model.slice(-20)
      expect(all(ends)).toEqual(model)
      expect(ends.size).toBe(model.length)
    }
    expect(tokens(ends, { key: 'a' })).toEqual(
      model
        .filter(({ key }) => key === 'a')
        .map(({ token }) => token)
        .reverse(),
    )
  })

  it('are the same however often the array was tidied', () => {
    const random = new Random('room')
    const ends = new RecentEnds({ perKeyMax: 50, entriesMax: 500 })
    let model: HistoryEntry[] = []
    for (let token = 0; token < 6_000; token += 1) {
      const owner = 'ö'.repeat(random.int(1, 80))
      const namespace = random.pick(['lock', 'operation'] as const)
      const key = random.pick(['a', 'b', 'c', `rare-${token % 1_000}`])
      const added = { ...entry(key, token, 1_000), owner, namespace }
      ends.add(added)
      const isSame = (one: HistoryEntry) => one.key === key && one.namespace === namespace
      const ofKey = model.filter(isSame)
      model = model.filter((one) => ofKey.length < 50 || one !== ofKey[0])
      model = [...model, added].slice(-500)
      if (token % 97 === 0) {
        expect(all(ends)).toEqual(model)
        expect(ends.find({ key, namespace }, 10_000)).toEqual(model.filter(isSame).reverse())
      }
    }
  })

  it('are those of locks, of operations or of both of one name', () => {
    const ends = new RecentEnds()
    for (const token of [1, 2, 3, 4]) {
      ends.add({ ...entry('a', token), namespace: token % 2 === 0 ? 'lock' : 'operation' })
    }
    expect(tokens(ends, { key: 'a' })).toEqual([4, 3, 2, 1])
    expect(tokens(ends, { key: 'a', namespace: 'lock' })).toEqual([4, 2])
    expect(tokens(ends, { namespace: 'operation' })).toEqual([3, 1])
  })

  it('are read as they came in, whatever the numbers', () => {
    const ends = new RecentEnds()
    const added = [0, 127, 128, 2 ** 28, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1].map(
      (token) => ({
        ...entry('ключ', token, 9_000),
        fromMs: Math.min(token, 9_000),
        mode: 'read' as const,
        end: 'failed' as const,
      }),
    )
    for (const one of added) ends.add(one)
    expect(all(ends)).toEqual(added)
  })

  it('are forgotten after a week', () => {
    const ends = new RecentEnds()
    ends.add(entry('a', 1, 1_000))
    ends.add(entry('a', 2, 2_000))
    const find = (wallMs: number) => ends.find({}, wallMs).length
    expect(find(1_000 + HISTORY_KEPT_MS - 1)).toBe(2)
    expect(find(1_000 + HISTORY_KEPT_MS)).toBe(1)
    ends.add(entry('b', 3, 2_000 + HISTORY_KEPT_MS))
    expect(ends.size).toBe(1)
  })
})
