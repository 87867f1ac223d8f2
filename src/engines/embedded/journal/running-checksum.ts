/**
 * CRC-32C (Castagnoli), eight bytes a step. Written out because the one in `node:zlib` is another
 * polynomial and came to Node 20 late, and because a call into native code costs more than a
 * record of the usual size.
 */
const POLYNOMIAL = 0x82f63b78
const TABLES = createTables()

/**
 * A checksum that runs on over one piece of bytes after another, so that each intermediate value
 * vouches for everything before it. It starts from a seed; for the same bytes, two different seeds
 * never give the same checksum.
 */
export class RunningChecksum {
  #value: number

  constructor(seed: number) {
    this.#value = seed >>> 0
  }

  /** The checksum of all bytes so far, as an unsigned 32-bit number. */
  get value(): number {
    return this.#value
  }

  /** Takes in `bytes` from `start` up to, not including, `end`, and returns the new value. */
  update(bytes: Uint8Array, start: number, end: number): number {
    let crc = ~this.#value
    let at = start
    for (; at + 8 <= end; at += 8) {
      const low = crc ^ word(bytes, at)
      const high = word(bytes, at + 4)
      crc = through(low, 1024) ^ through(high, 0)
    }
    for (; at < end; at++) crc = TABLES[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
    this.#value = ~crc >>> 0
    return this.#value
  }
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

/** Four bytes through the four tables that begin at `table`, the first byte through the last. */
function through(four: number, table: number): number {
  return (
    TABLES[table + 768 + (four & 0xff)]! ^
    TABLES[table + 512 + ((four >>> 8) & 0xff)]! ^
    TABLES[table + 256 + ((four >>> 16) & 0xff)]! ^
    TABLES[table + (four >>> 24)]!
  )
}

/** Table `n`, at index `256 * n`, moves a byte past `n` further bytes. */
function createTables(): Int32Array {
  const tables = new Int32Array(8 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    tables[byte] = crc
  }
  for (let at = 256; at < tables.length; at++) {
    const previous = tables[at - 256]!
    tables[at] = tables[previous & 0xff]! ^ (previous >>> 8)
  }
  return tables
}
