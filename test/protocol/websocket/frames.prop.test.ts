import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPCODES } from '../../../src/protocol/websocket/frame-format.ts'
import { createFrame } from '../../../src/protocol/websocket/frame-writer.ts'
import { applyMask } from '../../../src/protocol/websocket/mask.ts'
import { ProtocolError } from '../../../src/protocol/session/protocol-error.ts'
import { readFrames } from './read-frames.ts'

/** The length of most is one or two bytes, that of a few eight. */
const payloads = fc.oneof(
  { weight: 9, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 65_530, max: 65_600 }).map((length) => Buffer.alloc(length, 'x')),
  },
)

/** A message in one frame or several, with pings in between. */
function toFrames(payload: Uint8Array, cuts: readonly number[], isMasked: boolean): Buffer[] {
  const ends = [...cuts.map((cut) => cut % (payload.length + 1)), payload.length]
  ends.sort((one, other) => one - other)
  const frames: Buffer[] = []
  let start = 0
  for (const [index, end] of ends.entries()) {
    const opcode = index === 0 ? OPCODES.binary : OPCODES.continuation
    const frame = createFrame(payload.subarray(start, end), opcode, isMasked)
    const isLast = index === ends.length - 1
    if (!isLast) (frame[0] as number) &= 0x7f
    frames.push(frame)
    if (!isLast) frames.push(createFrame(Buffer.from('still here'), OPCODES.ping, isMasked))
    start = end
  }
  return frames
}

function cutUp(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  const scale = bytes.length > 10_000 ? 500 : 1
  let at = 0
  for (let index = 0; at < bytes.length; index += 1) {
    const size = (sizes[index % sizes.length] ?? 1) * scale
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}

describe('what was sent is what is read', () => {
  it('in however many frames, and however they are cut into pieces on the way', () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(70_000)), {
      minLength: 1,
      maxLength: 5,
    })
    const sent = fc.array(fc.tuple(payloads, fc.array(fc.nat(), { maxLength: 3 })), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(sent, sizes, fc.boolean(), (messages, pieceSizes, isMasked) => {
        const frames = messages.flatMap(([payload, cuts]) => toFrames(payload, cuts, isMasked))
        const pieces = cutUp(Buffer.concat(frames), pieceSizes)
        const found = readFrames(pieces, { isMasked })
        expect(found.messages).toEqual(
          messages.map(([payload]) => ({
            bytes: Buffer.from(payload).toString('hex'),
            isBinary: true,
          })),
        )
        expect(found.pings).toHaveLength(messages.reduce((sum, [, cuts]) => sum + cuts.length, 0))
      }),
      { numRuns: 200 },
    )
  })

  it('whatever the bytes are, a reader takes them or says what is wrong', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isMasked) => {
        try {
          readFrames([bytes], { isMasked, messageBytesMax: 100 })
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

it('a mask changes every byte as the RFC says, wherever the bytes stand', () => {
  const masks = fc.uint8Array({ minLength: 4, maxLength: 4 })
  const bytes = fc.uint8Array({ maxLength: 300 })
  fc.assert(
    fc.property(bytes, masks, fc.nat(7), (payload, key, offset) => {
      const memory = new Uint8Array(offset + payload.length + 8)
      const view = memory.subarray(offset, offset + payload.length)
      view.set(payload)
      applyMask(view, key)
      const expected = payload.map((byte, index) => byte ^ (key[index % 4] as number))
      expect([...view]).toEqual([...expected])
      expect([...memory.subarray(offset + payload.length)]).toEqual(Array(8).fill(0))
    }),
    { numRuns: 1_000 },
  )
})
