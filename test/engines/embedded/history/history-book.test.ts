import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../../../src/engine/queries.ts'
import { HistoryBook } from '../../../../src/engines/embedded/history/history-book.ts'
import { HISTORY_KEPT_MS } from '../../../../src/engines/embedded/history/history-limits.ts'
import { Random } from '../../../../src/testing/random.ts'

function entry(key: string, token: number, toMs = 1_000 + token): HistoryEntry {
  const about = { namespace: 'lock', key, owner: 'o', mode: 'write', end: 'released' } as const
  return { ...about, token, fromMs: toMs - 1, toMs }
}

function tokens(book: HistoryBook, query: { key?: string; limit?: number } = {}): number[] {
  return book.find({ kind: 'history', ...query }, 10_000).map(({ token }) => token)
}

describe('the history of an engine', () => {
  it('shows the newest first, of all keys or of one', () => {
    const book = new HistoryBook()
    for (const [index, key] of ['a', 'b', 'a'].entries()) book.add(entry(key, index))
    expect(tokens(book)).toEqual([2, 1, 0])
    expect(tokens(book, { key: 'a' })).toEqual([2, 0])
    expect(tokens(book, { limit: 1 })).toEqual([2])
  })

  it('keeps the last of each key and of all, whatever comes in', () => {
    const random = new Random('history')
    const book = new HistoryBook({ perKeyMax: 5, entriesMax: 20 })
    let model: HistoryEntry[] = []
    for (let token = 0; token < 3_000; token += 1) {
      const added = entry(random.pick(['a', 'b', 'c', `rare-${token}`]), token, 1_000)
      book.add(added)
      model.push(added)
      const ofKey = model.filter(({ key }) => key === added.key)
      if (ofKey.length > 5) model = model.filter((one) => one !== ofKey[0])
      model = model.slice(-20)
      expect([...book]).toEqual(model)
      expect(book.size).toBe(model.length)
    }
    expect(tokens(book, { key: 'a' })).toEqual(
      model
        .filter(({ key }) => key === 'a')
        .map(({ token }) => token)
        .reverse(),
    )
  })

  it('forgets what ended more than a week ago', () => {
    const book = new HistoryBook()
    book.add(entry('a', 1, 1_000))
    book.add(entry('a', 2, 2_000))
    const find = (wallMs: number) => book.find({ kind: 'history' }, wallMs).length
    expect(find(1_000 + HISTORY_KEPT_MS - 1)).toBe(2)
    expect(find(1_000 + HISTORY_KEPT_MS)).toBe(1)
    book.add(entry('b', 3, 2_000 + HISTORY_KEPT_MS))
    expect(book.size).toBe(1)
  })
})
