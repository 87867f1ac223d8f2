import { describe, expect, it } from 'vitest'
import type { HistoryEntry, HistoryQuery } from '../../../../src/engine/queries.ts'
import { HistoryBook } from '../../../../src/engines/embedded/history/history-book.ts'
import { HISTORY_KEPT_MS } from '../../../../src/engine/history-rules.ts'
import { Random } from '../../../../src/testing/random.ts'

function entry(key: string, token: number, toMs = 1_000 + token): HistoryEntry {
  const about = { namespace: 'lock', key, owner: 'o', mode: 'write', end: 'released' } as const
  return { ...about, token, fromMs: toMs - 1, toMs }
}

function tokens(book: HistoryBook, query: Omit<HistoryQuery, 'kind'> = {}): number[] {
  return book.find({ kind: 'history', ...query }, 10_000).map(({ token }) => token)
}

/** Oldest first. */
function all(book: HistoryBook): HistoryEntry[] {
  return book.find({ kind: 'history', limit: Number.POSITIVE_INFINITY }, 10_000).reverse()
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
      expect(all(book)).toEqual(model)
      expect(book.size).toBe(model.length)
    }
    expect(tokens(book, { key: 'a' })).toEqual(
      model
        .filter(({ key }) => key === 'a')
        .map(({ token }) => token)
        .reverse(),
    )
  })

  it('is the same however often it made room for more', () => {
    const random = new Random('room')
    const book = new HistoryBook({ perKeyMax: 50, entriesMax: 500 })
    let model: HistoryEntry[] = []
    for (let token = 0; token < 6_000; token += 1) {
      const owner = 'ö'.repeat(random.int(1, 80))
      const namespace = random.pick(['lock', 'operation'] as const)
      const key = random.pick(['a', 'b', 'c', `rare-${token % 1_000}`])
      const added = { ...entry(key, token, 1_000), owner, namespace }
      book.add(added)
      const isSame = (one: HistoryEntry) => one.key === key && one.namespace === namespace
      const ofKey = model.filter(isSame)
      model = model.filter((one) => ofKey.length < 50 || one !== ofKey[0])
      model = [...model, added].slice(-500)
      if (token % 97 === 0) {
        expect(all(book)).toEqual(model)
        expect(book.find({ kind: 'history', key, namespace }, 10_000)).toEqual(
          model.filter(isSame).reverse(),
        )
      }
    }
  })

  it('shows locks, operations or both of one name, newest first', () => {
    const book = new HistoryBook()
    for (const token of [1, 2, 3, 4]) {
      book.add({ ...entry('a', token), namespace: token % 2 === 0 ? 'lock' : 'operation' })
    }
    expect(tokens(book, { key: 'a' })).toEqual([4, 3, 2, 1])
    expect(tokens(book, { key: 'a', namespace: 'lock' })).toEqual([4, 2])
    expect(tokens(book, { namespace: 'operation' })).toEqual([3, 1])
  })

  it('gives back what came in, whatever the numbers', () => {
    const book = new HistoryBook()
    const added = [0, 127, 128, 2 ** 28, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1].map(
      (token) => ({
        ...entry('ключ', token, 9_000),
        fromMs: Math.min(token, 9_000),
        mode: 'read' as const,
        end: 'failed' as const,
      }),
    )
    for (const one of added) book.add(one)
    expect(all(book)).toEqual(added)
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
