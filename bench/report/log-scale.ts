/** The two ends of an axis, in the units of the drawing. */
export interface Axis {
  readonly start: number
  readonly end: number
}

/** Places positive values on an axis on which each power of ten is equally long. */
export class LogScale {
  readonly #axis: Axis
  readonly #lowest: number
  readonly #highest: number

  private constructor(axis: Axis, lowest: number, highest: number) {
    this.#axis = axis
    this.#lowest = lowest
    this.#highest = highest
  }

  /** From the power of ten below all values to the one above; what is not positive is at the start. */
  static around(values: readonly number[], axis: Axis): LogScale {
    const exponents = values.filter((value) => value > 0).map(Math.log10)
    const lowest = Math.floor(Math.min(...exponents, ...(exponents.length === 0 ? [0] : [])))
    const highest = Math.ceil(Math.max(...exponents, lowest + 1))
    return new LogScale(axis, lowest, highest)
  }

  /** The powers of ten, both ends included. */
  get ticks(): number[] {
    const count = this.#highest - this.#lowest + 1
    return Array.from({ length: count }, (_, index) => 10 ** (this.#lowest + index))
  }

  /** To a tenth of a unit. */
  place(value: number): number {
    const { start, end } = this.#axis
    if (!(value > 0)) return start
    const share = (Math.log10(value) - this.#lowest) / (this.#highest - this.#lowest)
    return Math.round((start + share * (end - start)) * 10) / 10
  }
}
