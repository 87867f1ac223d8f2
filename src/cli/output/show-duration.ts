const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A length of time for people, with its two largest units: `3m 12s`, `1.4s`, `250ms`. */
export function showDuration(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return 'for ever'
  const wholeMs = Math.max(0, Math.round(ms))
  if (wholeMs < 1_000) return `${wholeMs}ms`
  if (wholeMs < 10_000) return `${(wholeMs / 1_000).toFixed(1)}s`
  let restMs = wholeMs
  const parts: string[] = []
  for (const [unit, unitMs] of UNITS) {
    const count = Math.floor(restMs / unitMs)
    restMs -= count * unitMs
    if (count > 0) parts.push(`${count}${unit}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ')
}

/** The time of day at which something was so long ago, in the time zone of this process. */
export function showTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs)
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':')
  if (at.toDateString() === new Date(nowMs).toDateString()) return time
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(twoDigits).join('-')
  return `${date} ${time}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
