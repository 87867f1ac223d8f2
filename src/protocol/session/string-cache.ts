/** Names come again and again: the key of an acquire and of its release, the owner of both. */
const SLOTS = 4096
const CACHED_BYTES_MAX = 48

/** Up to this length a loop is faster than the decoder of the platform. */
const LOOP_BYTES_MAX = 16

const decoder = new TextDecoder()

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Short ASCII strings that were read lately, by their bytes. One that comes again is not made again,
 * and whoever looks it up in a table finds its hash already there.
 */
export class StringCache {
  readonly #slots: (string | undefined)[] = Array.from({ length: SLOTS })

  /** `undefined` for bytes that are not ASCII or too many to be worth it. */
  read(bytes: Uint8Array, start: number, length: number): string | undefined {
    if (length > CACHED_BYTES_MAX) return undefined
    const end = start + length
    let hash = FNV_OFFSET ^ length
    let all = 0
    for (let at = start; at < end; at += 1) {
      const code = bytes[at] as number
      all |= code
      hash = Math.imul(hash ^ code, FNV_PRIME)
    }
    if (all > 127) return undefined
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
    const known = this.#slots[slot]
    if (known?.length === length && isSame(known, bytes, start)) return known
    const made =
      length > LOOP_BYTES_MAX
        ? decoder.decode(bytes.subarray(start, end))
        : makeAscii(bytes, start, end)
    this.#slots[slot] = made
    return made
  }
}

function isSame(known: string, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < known.length; index += 1) {
    if (known.charCodeAt(index) !== bytes[start + index]) return false
  }
  return true
}

function makeAscii(bytes: Uint8Array, start: number, end: number): string {
  let made = ''
  let at = start
  for (; at + 8 <= end; at += 8) {
    made += String.fromCharCode(
      bytes[at] as number,
      bytes[at + 1] as number,
      bytes[at + 2] as number,
      bytes[at + 3] as number,
      bytes[at + 4] as number,
      bytes[at + 5] as number,
      bytes[at + 6] as number,
      bytes[at + 7] as number,
    )
  }
  for (; at < end; at += 1) made += String.fromCharCode(bytes[at] as number)
  return made
}
