import type { Random } from './random.ts'

const SECTOR_BYTES = 512

type Change =
  | { readonly kind: 'write'; readonly bytes: Buffer; readonly position: number }
  | { readonly kind: 'truncate'; readonly size: number }

/**
 * The content of one file as programs see it, as it is on the platter, and the changes in between.
 * The bytes of a change that is not synced can get to the platter, or not, or in part.
 */
export class SimulatedFile {
  readonly #visible = new ByteImage()
  readonly #durable = new ByteImage()
  #unsynced: Change[] = []

  get size(): number {
    return this.#visible.size
  }

  /** A copy of what programs see. */
  contents(): Buffer {
    return this.#visible.read(0, this.#visible.size)
  }

  read(position: number, length: number): Buffer {
    return this.#visible.read(position, length)
  }

  write(bytes: Uint8Array, position: number): void {
    this.#change({ kind: 'write', bytes: Buffer.from(bytes), position })
  }

  truncate(size: number): void {
    this.#change({ kind: 'truncate', size })
  }

  sync(): void {
    for (const change of this.#unsynced) this.#durable.apply(change)
    this.#unsynced = []
  }

  /**
   * A sync that fails. As on real systems, the changes count as written from now on although some
   * never were: programs go on seeing them, and no later sync brings them to the platter.
   */
  failSync(random: Random): void {
    this.#keepSome(random)
  }

  /** The power goes: what programs see from now on is what the platter has. */
  losePower(random: Random): void {
    this.#keepSome(random)
    this.#visible.copyFrom(this.#durable)
  }

  #change(change: Change): void {
    this.#visible.apply(change)
    this.#unsynced.push(change)
  }

  #keepSome(random: Random): void {
    for (const change of this.#unsynced) {
      for (const piece of survivors(change, random)) this.#durable.apply(piece)
    }
    this.#unsynced = []
  }
}

/** The parts of a change that reach the platter although it was not synced. */
function survivors(change: Change, random: Random): Change[] {
  if (change.kind === 'truncate') return random.chance(0.5) ? [change] : []
  const fate = random.pick(['lost', 'whole', 'cut', 'holes'])
  if (fate === 'lost') return []
  if (fate === 'whole') return [change]
  const { bytes, position } = change
  if (fate === 'cut') return [{ ...change, bytes: bytes.subarray(0, random.int(0, bytes.length)) }]
  const sectors: Change[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + SECTOR_BYTES - ((position + at) % SECTOR_BYTES)
    const sector = bytes.subarray(at, end)
    if (random.chance(0.5)) sectors.push({ ...change, bytes: sector, position: position + at })
    at = end
  }
  return sectors
}

/** Bytes that grow as they are written; what was never written is zero. */
class ByteImage {
  #bytes: Buffer = Buffer.alloc(0)
  size = 0

  read(position: number, length: number): Buffer {
    return Buffer.from(this.#bytes.subarray(position, Math.min(position + length, this.size)))
  }

  apply(change: Change): void {
    if (change.kind === 'truncate') {
      this.#bytes.fill(0, change.size, this.size)
      this.size = Math.min(this.size, change.size)
      return
    }
    const end = change.position + change.bytes.length
    if (change.bytes.length === 0) return
    this.#reserve(end)
    this.#bytes.set(change.bytes, change.position)
    this.size = Math.max(this.size, end)
  }

  copyFrom(other: ByteImage): void {
    this.#bytes = other.read(0, other.size)
    this.size = other.size
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(size, this.#bytes.length * 2))
    this.#bytes.copy(larger)
    this.#bytes = larger
  }
}
