import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MESSAGE_TABLE } from '../../../src/wire/session/message-table.ts'
import { PackReader } from '../../../src/wire/session/pack-reader.ts'
import { PackWriter } from '../../../src/wire/session/pack-writer.ts'
import { ProtocolError } from '../../../src/wire/session/protocol-error.ts'
import { clientMessages, numbers, serverMessages } from './arbitrary-messages.ts'
import { hearClient, hearServer, write } from './heard.ts'

describe('what was written is what is read', () => {
  it('every message of a client, with every field', () => {
    const seen = new Set<string>()
    const some = fc.array(fc.tuple(numbers, clientMessages), { maxLength: 5 })
    fc.assert(
      fc.property(some, (messages) => {
        for (const [, { kind }] of messages) seen.add(kind)
        expect(hearClient(write(...messages))).toEqual(messages)
      }),
      { numRuns: 2_000 },
    )
    expect(seen).toEqual(kindsOf((code) => code < 64))
  })

  it('every message of a server, with every field', () => {
    const seen = new Set<string>()
    const some = fc.array(fc.tuple(numbers, serverMessages), { maxLength: 5 })
    fc.assert(
      fc.property(some, (messages) => {
        for (const [, { kind }] of messages) seen.add(kind)
        expect(hearServer(write(...messages))).toEqual(messages)
      }),
      { numRuns: 2_000 },
    )
    expect(seen).toEqual(kindsOf((code) => code >= 64))
  })

  it('every number, to the last bit', () => {
    const edges = [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]
    const all = fc.oneof(
      fc.maxSafeInteger(),
      fc.double(),
      fc.constantFrom(...edges, ...edges.map((edge) => -edge), -32, -33, -128, -129, -32_769),
    )
    fc.assert(
      fc.property(all, (value) => {
        const writer = new PackWriter()
        writer.number(value)
        expect(new PackReader(writer.take()).number()).toBe(Object.is(value, -0) ? 0 : value)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    [0, 'd0 00'],
    [200, 'd1 00c8'],
    [-5, 'fb'],
    [-100, 'd0 9c'],
    [-40_000, 'd2 ffff63c0'],
    [70_000, 'ce 00011170'],
    [1.5, 'ca 3fc00000'],
    [2 ** 40, 'cf 0000010000000000'],
    [-(2 ** 40), 'd3 ffffff0000000000'],
  ])('the number %d in a form that other writers choose', (value, hex) => {
    const bytes = Buffer.from(hex.replace(' ', ''), 'hex')
    expect(new PackReader(bytes).number()).toBe(value)
  })

  it('a frame that grew beyond its buffer, and the next one after it', () => {
    for (const size of [10, 100_000, 3, 400_000, 5]) {
      const message = { kind: 'skip', value: 'ä'.repeat(size) } as const
      expect(hearServer(write([1, message], [2, message]))).toEqual([
        [1, message],
        [2, message],
      ])
    }
  })
})

it('a message of the other side is refused', () => {
  expect(() => hearServer(write([1, { kind: 'sweep' }]))).toThrow(ProtocolError)
  expect(() => hearClient(write([1, { kind: 'done' }]))).toThrow(ProtocolError)
})

it('every message has a code of its own, in the range of its side', () => {
  const codes = Object.values(MESSAGE_TABLE).map(([code]) => code)
  expect(new Set(codes).size).toBe(codes.length)
})

function kindsOf(test: (code: number) => boolean): Set<string> {
  const rows = Object.entries(MESSAGE_TABLE).filter(([, [code]]) => test(code))
  return new Set(rows.map(([kind]) => kind))
}
