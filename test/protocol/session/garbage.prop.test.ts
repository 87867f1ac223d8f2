import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeHello, writeRead } from '../../../src/protocol/session/client-frames.ts'
import { writeCommand } from '../../../src/protocol/session/command-codec.ts'
import { writeOutcome } from '../../../src/protocol/session/outcome-codec.ts'
import { ProtocolError } from '../../../src/protocol/session/protocol-error.ts'
import { commands, hellos, outcomes, OWN_SESSION, queries } from './arbitrary-messages.ts'
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

const frames = fc
  .record({ command: commands, outcome: outcomes, hello: hellos, query: queries })
  .map(({ command, outcome, hello, query }) =>
    write(
      (writer) => writeHello(writer, hello),
      (writer) => writeCommand(writer, command, { id: 7, ownSession: OWN_SESSION, mayAbort: true }),
      (writer) => writeRead(writer, 8, query),
      (writer) => writeOutcome(writer, 9, outcome),
    ),
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
        const context = { id: 300, ownSession: OWN_SESSION, mayAbort: false }
        const frame = write((writer) => writeCommand(writer, command, context))
        const length = cut % frame.length
        if (length === 0) expect(hearClient(frame.subarray(0, 0))).toEqual([])
        else expect(() => hearClient(frame.subarray(0, length))).toThrow(ProtocolError)
      }),
      { numRuns: 3_000 },
    )
  })

  it.each([
    ['an array of four thousand million', [0xdd, 0xff, 0xff, 0xff, 0xff]],
    ['a string of four thousand million bytes', [0x93, 0x06, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff]],
    ['a map of four thousand million', [0x93, 0x06, 0x01, 0xdf, 0xff, 0xff, 0xff, 0xff]],
    ['a string that is longer than any may be', [0x92, 0x01, 0xdb, 0x00, 0x10, 0x00, 0x00]],
    ['a number beyond what is exact', [0x92, 0x05, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0]],
    ['text that is not UTF-8', [0x94, 0x07, 0x01, 0xa2, 0xc3, 0x28, 0xc0]],
    ['a member called __proto__', [0x93, 0x06, 0x01, 0x81, 0xa9, ...Buffer.from('__proto__'), 1]],
    ['a code that nothing has', [0x92, 0x7f, 0x01]],
    ['a message that is no array', [0x2a]],
    ['binary data, which the subset has not', [0x93, 0x06, 0x01, 0xc4, 0x01, 0x00]],
  ])('refuses %s', (_, bytes) => {
    expect(() => hearClient(Uint8Array.from(bytes))).toThrow(ProtocolError)
  })

  it('refuses data that is nested without end', () => {
    const deep = [0x93, 0x06, 0x01, ...Array.from({ length: 100 }, () => 0x91), 0xc0]
    expect(() => hearClient(Uint8Array.from(deep))).toThrow('nested too deeply')
  })

  it('skips the fields of a later version', () => {
    const longer = write((writer) => {
      writer.array(6)
      writer.number(5)
      writer.number(42)
      writer.value({ later: [1, { more: true }] })
      writer.string('x')
      writer.nil()
      writer.value([[]])
    })
    expect(hearClient(longer)).toEqual([['abort', 42]])
  })
})
