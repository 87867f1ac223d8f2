/**
 * Random numbers that a seed decides. Never for secrets or owner names: anyone who knows the seed
 * knows them all.
 *
 * The generator is sfc32 (128 bits of state, 32 bits a step); the seed text is spread over the
 * state with FNV-1a and a finishing mix, and the first steps are thrown away.
 */
export class Random {
  /** What to write down to get the same numbers again. For a fork it is the path of names. */
  readonly seed: string
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number | string) {
    this.seed = String(seed)
    this.#a = hashText(this.seed, 0x9e3779b9)
    this.#b = hashText(this.seed, 0x243f6a88)
    this.#c = hashText(this.seed, 0xb7e15162)
    for (let i = 0; i < 16; i++) this.uint32()
  }

  /**
   * A generator of its own for one part of a run. It depends on the seed and the name only, not on
   * how many numbers were drawn before, so that one more draw in one part does not shift the
   * others. The same name gives the same numbers: give each part its own.
   */
  fork(name: string): Random {
    return new Random(`${this.seed}/${name}`)
  }

  /** An integer from 0 up to, not including, 2^32. */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** A number from 0 up to, not including, 1, with 53 random bits. */
  float(): number {
    const high = this.uint32() >>> 5
    const low = this.uint32() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number {
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min > max) {
      throw new RangeError(`no integer lies between ${min} and ${max}`)
    }
    return min + Math.floor(this.float() * (max - min + 1))
  }

  /** True with the given probability: 0 is never, 1 is always. */
  chance(probability: number): boolean {
    return this.float() < probability
  }

  /** One of the items, each as likely as the others. */
  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError('cannot pick from an empty list')
    return items[this.int(0, items.length - 1)] as Item
  }

  /** One of the items, each as likely as its weight says; a weight of 0 is never picked. */
  weighted<Item>(choices: readonly (readonly [item: Item, weight: number])[]): Item {
    const total = choices.reduce((sum, [, weight]) => sum + weight, 0)
    if (!(total > 0)) throw new RangeError('cannot pick where no weight is above zero')
    const possible = choices.filter(([, weight]) => weight > 0)
    let rest = this.float() * total
    for (const [item, weight] of possible) {
      rest -= weight
      if (rest < 0) return item
    }
    return possible[possible.length - 1]?.[0] as Item
  }

  /** The same items in another order; the given list is left alone. */
  shuffle<Item>(items: readonly Item[]): Item[] {
    const shuffled = [...items]
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.int(0, i)
      const moved = shuffled[i] as Item
      shuffled[i] = shuffled[j] as Item
      shuffled[j] = moved
    }
    return shuffled
  }
}

function hashText(text: string, basis: number): number {
  let hash = basis
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
