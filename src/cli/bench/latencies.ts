/** Samples beyond this are counted, not kept. */
const SAMPLES_MAX = 1_000_000

/** How long each of many things took. */
export class Latencies {
  readonly #samplesMs: number[] = []
  #count = 0

  add(ms: number): void {
    this.#count += 1
    if (this.#samplesMs.length < SAMPLES_MAX) this.#samplesMs.push(ms)
  }

  get count(): number {
    return this.#count
  }

  /** The time that this part of them did not exceed. */
  quantilesMs(parts: readonly number[]): number[] {
    const sorted = Float64Array.from(this.#samplesMs).sort()
    return parts.map((part) => sorted[Math.ceil(sorted.length * part) - 1] ?? 0)
  }
}
