import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PackWriter } from '../../../src/wire/session/pack-writer.ts'
import { ProtocolError } from '../../../src/wire/session/protocol-error.ts'
import { clientMessages, commands, serverMessages } from './arbitrary-messages.ts'
import { hearClient, hearServer, write } from './heard.ts'

/** Whatever the bytes are, reading them ends, in a protocol error at worst. */
function survives(frame: Uint8Array): void {
  for (const hear of [hearClient, hearServer]) {
    try {
      hear(frame)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
    }
  }
}

const frames = fc.oneof(
  fc.tuple(clientMessages, clientMessages).map(([one, other]) => write([7, one], [8, other])),
  fc.tuple(serverMessages, serverMessages).map(([one, other]) => write([7, one], [8, other])),
)

describe('a reader of frames', () => {
  it('survives any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), survives), { numRuns: 20_000 })
  })

  it('survives a frame with one byte changed', () => {
    fc.assert(
      fc.property(frames, fc.nat(), fc.nat(255), (frame, at, value) => {
        frame[at % frame.length] = value
        survives(frame)
      }),
      { numRuns: 5_000 },
    )
  })

  it('never takes a frame that was cut off for a whole one', () => {
    fc.assert(
      fc.property(commands, fc.nat(), (command, cut) => {
        const frame = write([300, command])
        const length = cut % frame.length
        if (length === 0) expect(hearClient(frame.subarray(0, 0))).toEqual([])
        else expect(() => hearClient(frame.subarray(0, length))).toThrow(ProtocolError)
      }),
      { numRuns: 3_000 },
    )
  })

  it.each([
    ['an array of four thousand million', [0xdd, 0xff, 0xff, 0xff, 0xff]],
    ['a text of four thousand million bytes', [0x93, 0x04, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff]],
    ['a message without its number', [0x91, 0x03]],
    ['a field of another type', [0x93, 0x04, 0x01, 0x02]],
    ['a number beyond what is exact', [0x92, 0x02, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0]],
    ['text that is not UTF-8', [0x94, 0x05, 0x01, 0x01, 0xa2, 0xc3, 0x28]],
    ['a query that is not JSON', [0x93, 0x04, 0x01, 0xa1, 0x7b]],
    ['a code that nothing has', [0x92, 0x3f, 0x01]],
    ['a code that is no number', [0x92, 0xa1, 0x61, 0x01]],
    ['a code between two', [0x92, 0xca, 0x3f, 0xc0, 0x00, 0x00, 0x01]],
    ['a message that is no array', [0x2a]],
    ['a map, which the subset has not', [0x93, 0x04, 0x01, 0x80]],
    ['binary data, which the subset has not', [0x93, 0x04, 0x01, 0xc4, 0x01, 0x00]],
  ])('refuses %s', (_, bytes) => {
    expect(() => hearClient(Uint8Array.from(bytes))).toThrow(ProtocolError)
  })

  it('refuses a message that lacks a field, and names it', () => {
    expect(() => hearClient(Uint8Array.from([0x92, 0x04, 0x01]))).toThrow('read needs query')
    expect(() => hearClient(Uint8Array.from([0x93, 0x04, 0x01, 0xc0]))).toThrow('read needs query')
  })

  it('skips the fields of a later version', () => {
    const writer = new PackWriter()
    writer.array(7)
    writer.number(3)
    writer.number(42)
    writer.text('more')
    writer.number(1.5)
    writer.bool(true)
    writer.nil()
    writer.text('x'.repeat(300))
    const next = write([43, { kind: 'goodbye' }])
    expect(hearClient(Buffer.concat([writer.take(), next]))).toEqual([
      [42, { kind: 'goodbye' }],
      [43, { kind: 'goodbye' }],
    ])
  })
})
