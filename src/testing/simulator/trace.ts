import { createHash } from 'node:crypto'

/**
 * What happened, line by line. Two runs of one seed give the same lines; the hash says so in short.
 */
export class Trace {
  readonly #nowMs: () => number
  readonly #lines: string[] = []

  constructor(clock: { nowMs(): number }) {
    this.#nowMs = () => clock.nowMs()
  }

  get length(): number {
    return this.#lines.length
  }

  note(who: string, what: string): void {
    this.#lines.push(`${this.#nowMs().toFixed(3)} ${who} ${what}`)
  }

  /** The last lines, or all. */
  tail(count: number = Infinity): string[] {
    return this.#lines.slice(Math.max(0, this.#lines.length - count))
  }

  /** The last lines that contain one of the words. */
  about(words: readonly string[], count: number): string[] {
    const found = this.#lines.filter((line) => words.some((word) => line.includes(word)))
    return found.slice(-count)
  }

  hash(): string {
    const hash = createHash('sha256')
    for (const line of this.#lines) hash.update(line).update('\n')
    return hash.digest('hex').slice(0, 16)
  }
}

/** A value in one line, without what is absent; `Infinity` is kept. */
export function toLine(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner === Number.POSITIVE_INFINITY ? 'Infinity' : inner,
  )
}
