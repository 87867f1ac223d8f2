/** A failing disk fails every request; one line a second says as much as a thousand. */
const QUIET_MS = 1_000

/** Keeps a log from saying the same thing over and over. */
export class LogThrottle {
  readonly #nowMs: () => number
  readonly #toldAtMs = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Whether it may be told now; then it is not told again for a while. There are few things to tell. */
  isOver(what: string): boolean {
    const nowMs = this.#nowMs()
    if (nowMs - (this.#toldAtMs.get(what) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false
    this.#toldAtMs.set(what, nowMs)
    return true
  }
}
