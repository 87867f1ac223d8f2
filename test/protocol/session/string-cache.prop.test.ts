import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StringCache } from '../../../src/protocol/session/string-cache.ts'

const BEFORE = 3

/** Read as a part of something longer, where nothing is aligned. */
function read(cache: StringCache, text: string): string | undefined {
  const bytes = Buffer.from(`${'x'.repeat(BEFORE)}${text}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return cache.read(view, BEFORE, bytes.length - BEFORE)
}

/** Few characters and all lengths, so that many have the same beginning, the same end or the same slot. */
const alike = fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\x7f'), maxLength: 43 })

describe('a cache of strings', () => {
  it('returns what was read, whatever was read before', () => {
    fc.assert(
      fc.property(fc.array(alike, { minLength: 1, maxLength: 200 }), (texts) => {
        const cache = new StringCache()
        for (const text of [...texts, ...texts]) expect(read(cache, text)).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  it('tells names apart that have the same slot', () => {
    const cache = new StringCache()
    const names = Array.from({ length: 20_000 }, (_, index) => `owner-${index}`)
    expect(names.map((name) => read(cache, name))).toEqual(names)
    expect(names.map((name) => read(cache, name))).toEqual(names)
  })

  it('leaves alone what is not ASCII, wherever that stands', () => {
    const cache = new StringCache()
    for (let at = 0; at < 9; at += 1) {
      const text = `${'a'.repeat(at)}é${'a'.repeat(8 - at)}`
      expect(read(cache, text)).toBeUndefined()
    }
  })

  it('leaves alone what is long', () => {
    const cache = new StringCache()
    expect(read(cache, 'a'.repeat(43))).toBe('a'.repeat(43))
    expect(read(cache, 'a'.repeat(44))).toBeUndefined()
  })
})
