/**
 * Whose state the journal keeps. The journal knows records and chunks as bytes only. The bytes that
 * `restore` and `replay` are given are valid until the call returns.
 *
 * The owner gives out numbers that only grow, and each is in the record that is appended with it: fencing tokens.
 * The journal keeps them from being given out twice even where records were lost.
 */
export interface JournalOwner {
  /** Takes one chunk of the last snapshot. All chunks come before the first record, in order. */
  restore(chunk: Uint8Array): void

  /** Takes one record that was appended after the snapshot. */
  replay(record: Uint8Array): void

  /** The highest number that was given out so far, as far as the owner knows; 0 when there is none. */
  readonly highest: number

  /** From now on, every number that the owner gives out is above this one. */
  raise(above: number): void

  /**
   * The whole state, as chunks from which `restore` can build it. At the moment of the call the
   * state contains every record appended so far and nothing else. The chunks are pulled bit by bit
   * while appends go on: either they are fixed when this returns, or a chunk that is made later may
   * show the state of that later moment, provided that replaying the records appended since the
   * call leads to the same end from either. That holds for records which say what is now, not for
   * those which say what is added.
   */
  snapshot(): Iterable<Uint8Array>
}
