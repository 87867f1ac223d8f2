import type { LockTable } from './table/lock-table.ts'

/**
 * A part of the keys, by hash: it counts the tokens of its keys, so that a key that was forgotten while
 * idle never sees a token again, without a number being kept for it.
 */
export class Shard {
  readonly table: LockTable
  readonly index: number
  /** The highest token given in this shard. */
  token = 0

  constructor(table: LockTable, index: number) {
    this.table = table
    this.index = index
  }
}
