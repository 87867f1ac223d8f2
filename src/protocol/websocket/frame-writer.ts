import { HEAD_ROOM } from './frame-format.ts'
import { applyMask, drawMaskKey } from './mask.ts'

const FINAL = 0x80
const MASKED = 0x80

/**
 * Puts the head of a frame in front of its payload, into the room that is there for it, and returns both
 * in one piece: one frame is one write. With `isMasked` the payload is masked where it stands.
 */
export function sealFrame(roomy: Buffer, opcode: number, isMasked: boolean): Buffer {
  const length = roomy.length - HEAD_ROOM
  const maskBytes = isMasked ? 4 : 0
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const start = HEAD_ROOM - maskBytes - lengthBytes - 2
  roomy[start] = FINAL | opcode
  const flag = isMasked ? MASKED : 0
  if (lengthBytes === 0) roomy[start + 1] = flag | length
  else if (lengthBytes === 2) {
    roomy[start + 1] = flag | 126
    roomy.writeUInt16BE(length, start + 2)
  } else {
    roomy[start + 1] = flag | 127
    roomy.writeUInt32BE(0, start + 2)
    roomy.writeUInt32BE(length, start + 6)
  }
  if (isMasked) {
    const key = drawMaskKey()
    roomy.set(key, HEAD_ROOM - 4)
    applyMask(roomy.subarray(HEAD_ROOM), key)
  }
  return roomy.subarray(start)
}

/** The same for a payload that has no room in front of it. */
export function createFrame(payload: Uint8Array, opcode: number, isMasked: boolean): Buffer {
  const roomy = Buffer.alloc(HEAD_ROOM + payload.length)
  roomy.set(payload, HEAD_ROOM)
  return sealFrame(roomy, opcode, isMasked)
}
