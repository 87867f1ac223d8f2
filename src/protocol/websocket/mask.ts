import { randomFillSync } from 'node:crypto'

const KEY_BYTES = 4
/** Below this, preparing to go by words costs more than it saves. */
const WORDS_FROM_BYTES = 48

/** Keys are drawn many at a time: asking for randomness costs as much as sending a frame. */
const keys = new Uint8Array(KEY_BYTES * 2048)
let usedBytes = keys.length

/** The same four bytes, shifted to where the words begin. */
const shifted = new Uint8Array(KEY_BYTES)
const shiftedWord = new Int32Array(shifted.buffer)

/** A key that nobody could know; valid until the next one is drawn. */
export function drawMaskKey(): Uint8Array {
  if (usedBytes === keys.length) {
    randomFillSync(keys)
    usedBytes = 0
  }
  usedBytes += KEY_BYTES
  return keys.subarray(usedBytes - KEY_BYTES, usedBytes)
}

/** Masks, or unmasks, in place: word by word where the memory has words. */
export function applyMask(bytes: Uint8Array, key: Uint8Array): void {
  const { length, byteOffset, buffer } = bytes
  if (length < WORDS_FROM_BYTES) return maskBytes(bytes, key, 0, length)
  const before = -byteOffset & 3
  for (let index = 0; index < KEY_BYTES; index += 1) {
    shifted[index] = key[(before + index) & 3] as number
  }
  const word = shiftedWord[0] as number
  const words = new Int32Array(buffer, byteOffset + before, (length - before) >> 2)
  for (let index = 0; index < words.length; index += 1) (words[index] as number) ^= word
  maskBytes(bytes, key, 0, before)
  maskBytes(bytes, key, before + words.length * KEY_BYTES, length)
}

// oxlint-disable-next-line max-params -- twice per frame; an object each would be dearer than the loop.
function maskBytes(bytes: Uint8Array, key: Uint8Array, start: number, end: number): void {
  for (let index = start; index < end; index += 1) {
    ;(bytes[index] as number) ^= key[index & 3] as number
  }
}
