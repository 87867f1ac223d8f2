import { ProtocolError } from '../session/protocol-error.ts'

/** The parts of RFC 6455 that sessions need: its frames, without extensions. */

export const OPCODES = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const

/** Control frames fit into one frame, whose length is one byte. */
export const CONTROL_BYTES_MAX = 125

/**
 * What stands unused in front of every frame that is to be sent: the longest head has 14 bytes, and with
 * two more whatever follows it is aligned to words.
 */
export const HEAD_ROOM = 16

/** Close codes of RFC 6455 that are said here. */
export const FRAME_CLOSE_CODES = {
  /** A frame that the RFC does not allow. */
  malformed: 1002,
  /** Text that is not UTF-8. */
  notText: 1007,
  tooLong: 1009,
  /** Never said, only noted: the connection broke. */
  cutOff: 1006,
  /** Never said, only noted: a close without a code. */
  none: 1005,
} as const

/** Bytes that are no frame of RFC 6455. */
export class FrameError extends ProtocolError {
  readonly closeCode: number

  constructor(closeCode: number, message: string) {
    super(message)
    this.name = 'FrameError'
    this.closeCode = closeCode
  }
}

/** Those that an endpoint may say: of the RFC, registered ones, and those for private use. */
export function isCloseCode(code: number): boolean {
  if (code >= 3000) return code <= 4999
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006
}
