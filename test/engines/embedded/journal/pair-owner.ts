import type { JournalOwner } from '../../../../src/engines/embedded/journal/owner/journal-owner.ts'

const KEYS = 7
/** So long that a snapshot is written in several pieces, between which appends go on. */
const CHUNK_BYTES = 33 * 1024

/**
 * An owner whose record `n` sets two of seven cells to `n`, and whose snapshot is made while the
 * cells change. A snapshot that shows one half of a record that was then lost would show.
 */
export class PairOwner implements JournalOwner {
  readonly #cells = Array.from({ length: KEYS }, () => 0)

  /** The records that lead to this state, from the first. */
  get list(): string[] {
    const last = Math.max(...this.#cells)
    const model = new PairOwner()
    const texts = Array.from({ length: last }, (_, i) => String(i + 1))
    for (const text of texts) model.#set(Number(text))
    if (String(model.#cells) !== String(this.#cells)) {
      throw new Error(`no sequence of whole records leads to ${String(this.#cells)}`)
    }
    return texts
  }

  /** Records are numbers, which go on from the last one that is there. */
  get highest(): number {
    return Math.max(...this.#cells)
  }

  raise(): void {}

  push(text: string): void {
    this.#set(Number(text))
  }

  restore(chunk: Uint8Array): void {
    const [key, value] = Buffer.from(chunk).toString('latin1').trim().split('=').map(Number)
    this.#cells[key as number] = value as number
  }

  replay(record: Uint8Array): void {
    this.#set(Number(Buffer.from(record).toString('latin1')))
  }

  *snapshot(): Iterable<Uint8Array> {
    for (let key = 0; key < KEYS; key++) {
      yield Buffer.from(`${key}=${this.#cells[key]}`.padEnd(CHUNK_BYTES))
    }
  }

  #set(value: number): void {
    this.#cells[value % KEYS] = value
    this.#cells[(value * 3 + 1) % KEYS] = value
  }
}
