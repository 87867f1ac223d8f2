import type { JournalOwner } from '../../../../src/engines/embedded/journal/owner/journal-owner.ts'

/**
 * An owner whose state is the list of all records it was ever given. A record that is replayed
 * twice, left out or out of order shows at once.
 */
export class ListOwner implements JournalOwner {
  readonly list: string[] = []

  /** It gives out no numbers. */
  readonly highest: number = 0

  raise(): void {}

  push(text: string): void {
    this.list.push(text)
  }

  restore(chunk: Uint8Array): void {
    const text = Buffer.from(chunk).toString('utf8')
    this.list.push(...(JSON.parse(text) as string[]))
  }

  replay(record: Uint8Array): void {
    this.list.push(Buffer.from(record).toString('utf8'))
  }

  /** Two chunks, fixed at the moment of the call. */
  snapshot(): Iterable<Uint8Array> {
    const middle = Math.floor(this.list.length / 2)
    const halves = [this.list.slice(0, middle), this.list.slice(middle)]
    return halves.map((half) => Buffer.from(JSON.stringify(half)))
  }
}
