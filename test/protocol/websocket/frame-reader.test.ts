import { describe, expect, it } from 'vitest'
import { FrameError, OPCODES } from '../../../src/protocol/websocket/frame-format.ts'
import { createFrame } from '../../../src/protocol/websocket/frame-writer.ts'
import { readFrames } from './read-frames.ts'

const MALFORMED = 1002
const NOT_TEXT = 1007
const TOO_LONG = 1009

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex')
}

function closeCodeOf(bytes: Buffer, isMasked = false): number | undefined {
  try {
    readFrames([bytes], { isMasked, messageBytesMax: 100 })
    return undefined
  } catch (error) {
    if (error instanceof FrameError) return error.closeCode
    throw error
  }
}

function close(code: number, reason: Uint8Array = Buffer.alloc(0)): Buffer {
  return createFrame(Buffer.from([code >> 8, code & 0xff, ...reason]), OPCODES.close, false)
}

describe('a frame is refused', () => {
  it.each([
    ['of which an extension would make sense', hex('c2 01 00'), MALFORMED],
    ['of an opcode for later', hex('83 00'), MALFORMED],
    ['of a control opcode for later', hex('8b 00'), MALFORMED],
    ['that pings in pieces', hex('09 00'), MALFORMED],
    ['that pings at length', hex('89 7e 00 7e'), MALFORMED],
    ['that goes on with nothing', hex('80 01 00'), MALFORMED],
    ['that begins inside another message', hex('02 01 00 82 01 00'), MALFORMED],
    ['from a server with a mask', hex('82 81 00 00 00 00 00'), MALFORMED],
    ['that closes with half a code', hex('88 01 03'), MALFORMED],
    ['that closes with a reason that is not text', close(1000, hex('ff')), NOT_TEXT],
    ['that is too long, before anything of it arrives', hex('82 65'), TOO_LONG],
    ['that says that it is longer than anything', hex('82 7f ff ff ff ff ff ff ff ff'), TOO_LONG],
    ['with which a message in pieces becomes too long', hex('02 01 00 80 64'), TOO_LONG],
  ])('%s', (_, bytes, code) => {
    expect(closeCodeOf(bytes)).toBe(code)
  })

  it('from a client without a mask', () => {
    expect(closeCodeOf(hex('82 01 00'), true)).toBe(MALFORMED)
  })

  it.each([0, 999, 1004, 1005, 1006, 1015, 2999, 5000])('that closes with %i', (code) => {
    expect(closeCodeOf(close(code))).toBe(MALFORMED)
  })
})

describe('a close', () => {
  it.each([1000, 1001, 1014, 3000, 4408, 4999])('may have the code %i', (code) => {
    const { closes } = readFrames([close(code, Buffer.from('über'))], { isMasked: false })
    expect(closes).toEqual([{ code, reason: 'über' }])
  })

  it('may have no code', () => {
    const { closes } = readFrames([hex('88 00')], { isMasked: false })
    expect(closes).toEqual([{ code: 1005, reason: '' }])
  })

  it('is the last that is read', () => {
    const { messages } = readFrames([Buffer.concat([close(1000), hex('82 01 00')]), hex('82 01')], {
      isMasked: false,
    })
    expect(messages).toEqual([])
  })
})

describe('a message', () => {
  it('of a length that is written longer than it has to be is taken', () => {
    const { messages } = readFrames(
      [hex('82 7e 00 01 61'), hex('81 7f 00 00 00 00 00 00 00 01 62')],
      {
        isMasked: false,
      },
    )
    expect(messages).toEqual([
      { bytes: '61', isBinary: true },
      { bytes: '62', isBinary: false },
    ])
  })

  it('in more pieces than it has bytes is too long', () => {
    const beginning = hex('02 00')
    const pieces = Array.from({ length: 200 }, () => hex('00 00'))
    expect(closeCodeOf(Buffer.concat([beginning, ...pieces]))).toBe(TOO_LONG)
  })

  it('may be followed by a pong that nobody asked for', () => {
    const found = readFrames([hex('82 01 61 8a 02 00 00 82 01 62')], { isMasked: false })
    expect(found.messages.map(({ bytes }) => bytes)).toEqual(['61', '62'])
    expect(found.pings).toEqual([])
  })
})
