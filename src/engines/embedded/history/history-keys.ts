import type { Namespace } from '../../../law/view.ts'

/**
 * The keys that have records in a history, by small numbers that are given anew when a key has none left.
 * The records of a key are numbered as well; those from the first to the last of them count. These
 * numbers go round at 2^32, so they are only compared by their difference.
 */
export class HistoryKeys {
  readonly #locks = new Map<string, number>()
  readonly #operations = new Map<string, number>()
  readonly #names: string[] = []
  readonly #firsts: number[] = []
  readonly #lasts: number[] = []
  /** Where the last record of each key stands. */
  readonly #places: number[] = []
  readonly #free: number[] = []

  find(namespace: Namespace, name: string): number | undefined {
    return this.#in(namespace).get(name)
  }

  /** The number of a key, which is given one if it has none. */
  take(namespace: Namespace, name: string): number {
    const numbers = this.#in(namespace)
    let key = numbers.get(name)
    if (key === undefined) {
      key = this.#free.pop() ?? this.#names.length
      numbers.set(name, key)
      this.#names[key] = name
      this.#firsts[key] = 0
      this.#lasts[key] = -1
      this.#places[key] = 0
    }
    return key
  }

  /** How many records of a key count. */
  count(key: number): number {
    return (((this.#lasts[key] as number) - (this.#firsts[key] as number)) | 0) + 1
  }

  nextOrdinal(key: number): number {
    return ((this.#lasts[key] as number) + 1) | 0
  }

  /** A record of a key was added. */
  add(key: number, place: number): void {
    this.#lasts[key] = this.nextOrdinal(key)
    this.#places[key] = place
  }

  /** The first record of a key counts no more. */
  dropFirst(key: number): void {
    this.#firsts[key] = ((this.#firsts[key] as number) + 1) | 0
  }

  /** Whether a record of a key counts. */
  counts(key: number, ordinal: number): boolean {
    return ((ordinal - (this.#firsts[key] as number)) | 0) >= 0
  }

  place(key: number): number {
    return this.#places[key] as number
  }

  move(key: number, place: number): void {
    this.#places[key] = place
  }

  /** For a key whose records are all gone. */
  forget(namespace: Namespace, key: number): void {
    this.#in(namespace).delete(this.#names[key] as string)
    this.#names[key] = ''
    this.#free.push(key)
  }

  #in(namespace: Namespace): Map<string, number> {
    return namespace === 'lock' ? this.#locks : this.#operations
  }
}
