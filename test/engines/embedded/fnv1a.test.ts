import { expect, it } from 'vitest'
import { fnv1a } from '../../../src/engines/embedded/fnv1a.ts'

it.each([
  ['sha256:abc', 2456750176, 0],
  ['resource1', 2933268876, 12],
  ['sha256:test123', 992694524, 28],
])('%s hashes as the lock servers in the field hash it', (name, hash, shard) => {
  expect(fnv1a(name)).toBe(hash)
  expect(fnv1a(name) % 32).toBe(shard)
})

it('a name outside ASCII is hashed over its UTF-8 bytes', () => {
  // 0xc3 0xa1 is the UTF-8 of U+00E1; the hash of the two bytes was computed by hand.
  const expected = Math.imul(Math.imul(0x811c9dc5 ^ 0xc3, 0x01000193) ^ 0xa1, 0x01000193) >>> 0
  expect(fnv1a('\u00e1')).toBe(expected)
})
