import { beforeEach, describe, expect, it } from 'vitest'
import { ABSENT_KEY } from '../../../src/engines/sql/snapshot/absent-key.ts'
import { KeySnapshot } from '../../../src/engines/sql/snapshot/key-snapshot.ts'
import type { LockedRow } from '../../../src/engines/sql/schema/schema.ts'
import { SnapshotCache } from '../../../src/engines/sql/snapshot/snapshot-cache.ts'
import type { KeyName } from '../../../src/engines/sql/sql-dialect.ts'
import { DEFAULT_SETTINGS } from '../../../src/engine/validation/default-settings.ts'

/** How many keys are kept. */
const KEPT_MAX = 4_096

const CONTEXT = { settings: DEFAULT_SETTINGS, floor: 0, sessions: new Map() }

const K: KeyName = { space: 'lock', name: 'k' }

function nameOf(index: number): KeyName {
  return { space: 'lock', name: `key-${index}` }
}

function rowOf(name: KeyName, { id = 1, version = 1 } = {}): LockedRow {
  return { ...name, id, version }
}

function snapshotOf(name: KeyName, { id = 1, version = 1 } = {}): KeySnapshot {
  return new KeySnapshot({ ...ABSENT_KEY, ...name, id, version }, CONTEXT)
}

describe('what is kept of keys', () => {
  let cache: SnapshotCache

  beforeEach(() => {
    cache = new SnapshotCache()
  })

  it('is given for a row that has the same id and version, to one at a time', () => {
    const snapshot = snapshotOf(K)
    cache.keep(snapshot)
    expect(cache.take(rowOf(K))).toBe(snapshot)
    expect(cache.take(rowOf(K))).toBeUndefined()
    cache.keep(snapshot)
    expect(cache.take(rowOf(K))).toBe(snapshot)
  })

  it.each([
    ['was changed', { version: 2 }],
    ['was removed and made anew', { id: 2 }],
  ])('is forgotten if the row %s, and the key is doubted', (_, changed) => {
    cache.keep(snapshotOf(K))
    expect(cache.take(rowOf(K, changed))).toBeUndefined()
    expect(cache.peek(K)).toBeUndefined()
    cache.keep(snapshotOf(K, changed))
    expect(cache.isTrusted(K)).toBe(false)
  })

  it('is given unseen to one at a time as well', () => {
    const snapshot = snapshotOf(K)
    cache.keep(snapshot)
    expect(cache.takeUnseen(K)).toBe(snapshot)
    expect(cache.takeUnseen(K)).toBeUndefined()
    expect(cache.take(rowOf(K))).toBeUndefined()
  })

  it('is not the key of the same name in the other space', () => {
    cache.keep(snapshotOf(K))
    const other: KeyName = { ...K, space: 'operation' }
    cache.doubt([other])
    expect(cache.isTrusted(other)).toBe(false)
    expect(cache.peek(other)).toBeUndefined()
    expect(cache.takeUnseen(other)).toBeUndefined()
    expect(cache.isTrusted(K)).toBe(true)
  })

  it('can be looked at without being taken', () => {
    const snapshot = snapshotOf(K)
    cache.keep(snapshot)
    expect(cache.peek(K)).toBe(snapshot)
    expect(cache.take(rowOf(K))).toBe(snapshot)
  })

  it('is trusted while it is there and nobody doubts it', () => {
    expect(cache.isTrusted(K)).toBe(false)
    cache.keep(snapshotOf(K))
    expect(cache.isTrusted(K)).toBe(true)
    cache.takeUnseen(K)
    expect(cache.isTrusted(K)).toBe(false)
    cache.keep(snapshotOf(K))
    expect(cache.isTrusted(K)).toBe(true)
  })

  it('is trusted again after a doubt when a locked row has shown it to be true', () => {
    cache.keep(snapshotOf(K))
    cache.doubt([K])
    expect(cache.isTrusted(K)).toBe(false)
    const unseen = cache.takeUnseen(K) as KeySnapshot
    cache.keep(unseen)
    expect(cache.isTrusted(K)).toBe(false)
    const seen = cache.take(rowOf(K)) as KeySnapshot
    expect(seen).toBe(unseen)
    cache.keep(seen)
    expect(cache.isTrusted(K)).toBe(true)
  })

  it('is doubted for each key of a transaction, and for no other', () => {
    const names = [nameOf(1), nameOf(2), nameOf(3)]
    for (const name of names) cache.keep(snapshotOf(name))
    cache.doubt(names.slice(0, 2))
    expect(names.map((name) => cache.isTrusted(name))).toEqual([false, false, true])
  })

  it('is bounded: whatever was not kept again for longest is forgotten', () => {
    for (let index = 0; index < KEPT_MAX; index += 1) cache.keep(snapshotOf(nameOf(index)))
    cache.keep(snapshotOf(nameOf(0)))
    expect(cache.isTrusted(nameOf(1))).toBe(true)
    cache.keep(snapshotOf(K))
    expect(cache.isTrusted(nameOf(1))).toBe(false)
    for (const name of [nameOf(0), nameOf(2), K]) expect(cache.isTrusted(name)).toBe(true)
  })

  it('is bounded in its doubts too: the oldest is forgotten, and the row is looked at as ever', () => {
    cache.keep(snapshotOf(K))
    cache.doubt([K])
    cache.doubt(Array.from({ length: KEPT_MAX - 1 }, (_, index) => nameOf(index)))
    expect(cache.isTrusted(K)).toBe(false)
    cache.doubt([nameOf(KEPT_MAX)])
    expect(cache.isTrusted(K)).toBe(true)
    expect(cache.take(rowOf(K, { version: 2 }))).toBeUndefined()
  })
})
