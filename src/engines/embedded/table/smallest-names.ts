import { compareNames } from '../../../engine/validation/names.ts'

/** Keeps the first `limit` of the names it is given, in byte order, with what belongs to them. */
export class SmallestNames<T> {
  readonly #limit: number
  #kept: { readonly name: string; readonly value: T }[] = []
  /** Names at or after this one are not among the first any more. */
  #bound: string | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  add(name: string, value: T): void {
    if (this.#bound !== undefined && compareNames(name, this.#bound) >= 0) return
    this.#kept.push({ name, value })
    if (this.#kept.length >= 2 * this.#limit) this.#cut()
  }

  #cut(): void {
    this.#kept.sort((one, other) => compareNames(one.name, other.name))
    this.#kept = this.#kept.slice(0, this.#limit)
    if (this.#kept.length === this.#limit) this.#bound = this.#kept.at(-1)?.name
  }

  sorted(): T[] {
    this.#cut()
    return this.#kept.map(({ value }) => value)
  }
}
