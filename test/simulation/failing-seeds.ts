/** A seed that once failed, and the bug that it found. */
export interface FailingSeed {
  readonly seed: number
  readonly bug: string
}

/**
 * Seeds that found something. They are run for ever: a bug that was fixed once is one that can be made
 * again. A later change of the simulator may lead them elsewhere; they stay all the same.
 */
export const FAILING_SEEDS: readonly FailingSeed[] = [
  { seed: 19, bug: 'the library asked again with a fraction of a millisecond left to wait' },
  {
    seed: 26,
    bug: 'closing the engine refused a wait as not applied although its grant was being written',
  },
  {
    seed: 627,
    bug: 'leases ran out while a long journal was being read, before anyone could renew them',
  },
  {
    seed: 1026,
    bug: 'a hold that was granted because another wait was aborted did not expire by itself',
  },
  {
    seed: 2905,
    bug: 'an older call of a begin took the connection from the newer one, and its turn was undone',
  },
  {
    seed: 3318,
    bug: 'the witness took a place for given up that a second request of the node stood for',
  },
  {
    seed: 4608,
    bug: 'a lock asked for again after its wait met its own first copy in the queue, and broke',
  },
  {
    seed: 5026,
    bug: 'aborting the older call of a request undid the grant that its newer call was told of',
  },
  {
    seed: 5657,
    bug: 'a call was told of a grant that came while its hanging up was being stored',
  },
]
