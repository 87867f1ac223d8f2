import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { RunningChecksum } from '../../../../src/engines/embedded/journal/running-checksum.ts'

const checksum = (bytes: Uint8Array, seed = 0): number =>
  new RunningChecksum(seed).update(bytes, 0, bytes.length)

/** Bit by bit, from the definition. */
function slowChecksum(bytes: Uint8Array, seed: number): number {
  let crc = ~seed
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return ~crc >>> 0
}

describe('the running checksum', () => {
  it.each([
    ['the digits 1 to 9', Buffer.from('123456789'), 0xe3069283],
    ['32 zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 bytes of ones', new Uint8Array(32).fill(255), 0x62a8ab43],
    ['0 to 31', Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
    ['nothing', new Uint8Array(0), 0],
  ])('gives the published CRC-32C of %s', (_, bytes, expected) => {
    expect(checksum(bytes)).toBe(expected)
  })

  it('agrees with the definition for every length and seed', () => {
    const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), seed, (bytes, start) => {
        expect(checksum(bytes, start)).toBe(slowChecksum(bytes, start))
      }),
    )
  })

  it('is the same in one piece and in two', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.nat(70), (bytes, at) => {
        const middle = Math.min(at, bytes.length)
        const pieces = new RunningChecksum(5)
        pieces.update(bytes, 0, middle)
        expect(pieces.update(bytes, middle, bytes.length)).toBe(checksum(bytes, 5))
      }),
    )
  })
})
