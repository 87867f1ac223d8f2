import { FrameReader } from '../../../src/protocol/websocket/frame-reader.ts'

export interface ReadFrames {
  readonly messages: { readonly bytes: string; readonly isBinary: boolean }[]
  readonly pings: string[]
  readonly closes: { readonly code: number; readonly reason: string }[]
}

export interface ReadOptions {
  readonly isMasked: boolean
  readonly messageBytesMax?: number
}

/** Everything that a reader finds in these pieces, in hexadecimal. */
export function readFrames(
  pieces: readonly Uint8Array[],
  { isMasked, messageBytesMax = 1_000_000 }: ReadOptions,
): ReadFrames {
  const found: ReadFrames = { messages: [], pings: [], closes: [] }
  const reader = new FrameReader({
    isMasked,
    messageBytesMax,
    handler: {
      onMessage: (bytes, isBinary) => {
        found.messages.push({ bytes: bytes.toString('hex'), isBinary })
      },
      onPing: (payload) => found.pings.push(payload.toString('hex')),
      onCloseFrame: (code, reason) => found.closes.push({ code, reason }),
    },
  })
  // A socket gives each piece memory of its own.
  for (const piece of pieces) reader.read(Buffer.from(piece))
  return found
}
