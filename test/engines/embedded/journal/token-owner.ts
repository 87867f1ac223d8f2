import type { JournalOwner } from '../../../../src/engines/embedded/journal/owner/journal-owner.ts'

/** Gives out tokens, each above all before it, and keeps those that it has records of. */
export class TokenOwner implements JournalOwner {
  readonly tokens: number[] = []
  highest = 0

  raise(above: number): void {
    this.highest = Math.max(this.highest, above)
  }

  /** The next token, and its record. */
  give(): { readonly token: number; readonly record: Buffer } {
    const token = this.highest + 1
    this.#note(token)
    return { token, record: Buffer.from(String(token)) }
  }

  restore(chunk: Uint8Array): void {
    const { tokens, highest } = JSON.parse(Buffer.from(chunk).toString()) as TokenOwner
    for (const token of tokens) this.#note(token)
    this.raise(highest)
  }

  replay(record: Uint8Array): void {
    this.#note(Number(Buffer.from(record).toString()))
  }

  snapshot(): Iterable<Uint8Array> {
    const { tokens, highest } = this
    return [Buffer.from(JSON.stringify({ tokens, highest }))]
  }

  #note(token: number): void {
    this.tokens.push(token)
    this.raise(token)
  }
}
