/** A usable delay: negative becomes zero, and what could never fall due is a caller's bug. */
export function parseTimerDelay(delayMs: number): number {
  if (!Number.isFinite(delayMs)) {
    throw new RangeError(`a timer needs a finite delay in milliseconds, got ${delayMs}`)
  }
  return Math.max(0, delayMs)
}
