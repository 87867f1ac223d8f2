/** Numbers as the tables show them. */

const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const SHORT = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })

export function formatCount(value: number): string {
  return COUNT.format(value)
}

/** Three digits are more than a busy machine can stand for: `1.23 M`, `456 k`, `78`. */
export function formatRate(value: number): string {
  if (value >= 1_000_000) return `${SHORT.format(value / 1_000_000)} M`
  if (value >= 1_000) return `${SHORT.format(value / 1_000)} k`
  return SHORT.format(value)
}

export function formatRatio(value: number): string {
  return value >= 100 ? formatCount(value) : value.toFixed(2)
}
