/** Long enough for a short hiccup to be over. */
const FIRST_MS = 20

/** The longest pause between two attempts. */
const LONGEST_MS = 1_000

/**
 * The pause after so many failures in a row: doubling up to a bound, and between half of that and all of it,
 * so that clients that failed together do not come back together. `random` is from 0 up to 1.
 */
export function backOffMs(failures: number, random: number): number {
  const fullMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))
  return (fullMs * (1 + random)) / 2
}
