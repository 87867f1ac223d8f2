/** Names come again and again: the key of an acquire and of its release, the owner of both. */
const SLOTS = 4096
/** Of a string that is kept: its length, and then its bytes in words, the last of which is never full. */
const WORDS = 12
const CACHED_BYTES_MAX = (WORDS - 1) * 4 - 1
/** In each byte of a word, the bit that ASCII does not have. */
const HIGH_BITS = 0x80808080

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
const MIX = 0x85ebca6b

/** The string that is looked up, after its length; what its last word does not need is zero. */
const scratch = Buffer.alloc(WORDS * 4)
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length)

/**
 * Short ASCII strings that were read lately, by their bytes. One that comes again is not made again,
 * and whoever looks it up in a table finds its hash already there. Bytes are read and compared by words,
 * with a copy beside the strings: these lie all over the memory, and looking into one that turns out to
 * be another costs more than everything else here.
 */
export class StringCache {
  readonly #strings: string[] = Array.from({ length: SLOTS }, () => '')
  readonly #words = new Int32Array(SLOTS * WORDS)

  /** `undefined` for bytes that are not ASCII or too many to be worth it. */
  read(bytes: DataView, start: number, length: number): string | undefined {
    if (length > CACHED_BYTES_MAX) return undefined
    const slot = load(bytes, start, length)
    if (slot === undefined) return undefined
    if (this.#has(slot, length)) return this.#strings[slot]
    const made = scratch.toString('latin1', 4, 4 + length)
    this.#keep(slot, made)
    return made
  }

  #has(slot: number, length: number): boolean {
    const words = this.#words
    const first = slot * WORDS
    const last = 4 + length
    for (let at = 0; at <= last; at += 4) {
      if (words[first + (at >> 2)] !== scratchView.getInt32(at, true)) return false
    }
    return true
  }

  #keep(slot: number, made: string): void {
    const words = this.#words
    const first = slot * WORDS
    const last = 4 + made.length
    this.#strings[slot] = made
    for (let at = 0; at <= last; at += 4) {
      words[first + (at >> 2)] = scratchView.getInt32(at, true)
    }
  }
}

/** Copies a string to where it can be read by words. Returns its slot, `undefined` if it is not ASCII. */
function load(bytes: DataView, start: number, length: number): number | undefined {
  const whole = length & ~3
  let hash = FNV_OFFSET ^ length
  let all = 0
  scratchView.setInt32(0, length, true)
  for (let at = 0; at < whole; at += 4) {
    const word = bytes.getInt32(start + at, true)
    all |= word
    hash = Math.imul(hash ^ word, FNV_PRIME)
    scratchView.setInt32(4 + at, word, true)
  }
  let last = 0
  for (let at = length - 1; at >= whole; at -= 1) last = (last << 8) | bytes.getUint8(start + at)
  scratchView.setInt32(4 + whole, last, true)
  if (((all | last) & HIGH_BITS) !== 0) return undefined
  // What differs most often is the end of a name, which stands in the upper bits so far.
  hash = Math.imul(hash ^ last, FNV_PRIME)
  hash = Math.imul(hash ^ (hash >>> 16), MIX)
  return (hash ^ (hash >>> 13)) & (SLOTS - 1)
}
