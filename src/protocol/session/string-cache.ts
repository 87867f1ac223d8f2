/** Names come again and again: the key of an acquire and of its release, the owner of both. */
const SLOTS = 4096
const CACHED_BYTES_MAX = 48

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Short ASCII strings that were read lately, by their bytes. One that comes again is not made again,
 * and whoever looks it up in a table finds its hash already there.
 */
export class StringCache {
  readonly #slots: (string | undefined)[] = Array.from({ length: SLOTS })

  /** `undefined` for bytes that are not ASCII or too many to be worth it. */
  read(bytes: Buffer, start: number, length: number): string | undefined {
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
    const made = bytes.toString('latin1', start, end)
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
