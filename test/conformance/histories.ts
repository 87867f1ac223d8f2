import type { HistoryDose } from '../../src/testing/engine-suite/engine-fixture.ts'

const { HOLDFAST_SEED, HOLDFAST_TEST_DOSE } = process.env

/** How many concurrent histories an engine is put through: a few, or many with the long dose. */
export const histories: HistoryDose = {
  rounds: HOLDFAST_TEST_DOSE === 'long' ? 40 : 3,
  ...(HOLDFAST_SEED === undefined ? {} : { seed: HOLDFAST_SEED }),
}
