import { deepStrictEqual, ok, strictEqual } from 'node:assert'

import { Journal, type JournalOptions } from '../../../../src/engines/embedded/journal/journal.ts'
import type { JournalOwner } from '../../../../src/engines/embedded/journal/owner/journal-owner.ts'
import type { Disk } from '../../../../src/engines/embedded/journal/disk.ts'

/** An owner that can tell which records it has been given, from the very first. */
export interface CountedOwner extends JournalOwner {
  readonly list: readonly string[]
  push(text: string): void
}

/**
 * Keeps account of what a journal must know. Records are the numbers from 1; each life of the
 * journal goes on from what it recovered.
 */
export class Ledger {
  /** How many records were acknowledged, or shown as recovered: none of them may be lost. */
  durable = 0
  #appended = 0

  /** Opens the journal, and checks what it recovered before anything else happens. */
  async open(disk: Disk, owner: CountedOwner, options: JournalOptions): Promise<LedgerJournal> {
    const journal = await Journal.open(disk, owner, options)
    const { list } = owner
    const count = list.length
    deepStrictEqual(
      list,
      Array.from(list, (_, i) => String(i + 1)),
    )
    ok(count >= this.durable, `${count} of ${this.durable} acknowledged records were recovered`)
    ok(count <= this.#appended, `${count} records recovered, ${this.#appended} appended`)
    this.durable = list.length
    this.#appended = list.length
    return new LedgerJournal(this, journal, owner)
  }

  /** Numbers the next record. */
  next(): number {
    return ++this.#appended
  }
}

/** A journal of one life. A record is in the owner's state from when it is appended. */
export class LedgerJournal {
  readonly journal: Journal
  readonly owner: CountedOwner
  readonly #ledger: Ledger

  constructor(ledger: Ledger, journal: Journal, owner: CountedOwner) {
    this.#ledger = ledger
    this.journal = journal
    this.owner = owner
  }

  async append(): Promise<void> {
    const number = this.#ledger.next()
    this.owner.push(String(number))
    await this.journal.append(Buffer.from(String(number)))
    // Acknowledged in order: everything before it has been.
    strictEqual(this.#ledger.durable, number - 1)
    this.#ledger.durable = number
  }

  /** Appends `count` records, up to four at a time, with pauses that are unlike each other. */
  async work(count: number): Promise<void> {
    let begun = 0
    const appender = async (_: unknown, which: number): Promise<void> => {
      while (begun < count) {
        begun++
        await this.append()
        for (let pause = 0; pause < (begun * which) % 7; pause++) await Promise.resolve()
      }
    }
    await Promise.all(Array.from({ length: 4 }, appender))
  }
}
