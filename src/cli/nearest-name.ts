/** More changes than this make another word of it. */
const CHANGES_MAX = 3

/** The name that was probably meant, if there is one. */
export function findNearestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, changes: countChanges(name, candidate) }))
    .toSorted((a, b) => a.changes - b.changes)
  const best = ranked[0]
  const isNear = best !== undefined && best.changes <= Math.min(CHANGES_MAX, name.length / 2)
  return isNear ? best.candidate : undefined
}

/** Letters to insert, remove, replace or swap with their neighbour to make one word of the other. */
function countChanges(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const swaps = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (isSame ? 0 : 1),
        swaps ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = row
  }
  return at(last, to.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
