import { type Effect, ShadowKey } from './shadow-key.ts'

interface Entry {
  readonly index: number
  readonly key: ShadowKey
  readonly effects: readonly Effect[]
}

export type Keys = Map<string, ShadowKey>

/** The keys as they were after some decision. */
export interface FoundState {
  readonly index: number
  readonly keys: Keys
}

/**
 * What may be found after a crash. Decisions are written in the order in which they were made, so what
 * comes back is their effect up to one of them: not before the last that was acknowledged, and not after
 * the last that was made.
 */
export class DurabilityLedger {
  #keys: Keys = new Map()
  #entries: Entry[] = []
  #floor = 0

  add(entry: Entry): void {
    this.#entries.push(entry)
  }

  /** Everything up to this decision has been acknowledged to somebody. */
  acknowledge(index: number): void {
    this.#floor = Math.max(this.#floor, index)
    let count = 0
    for (const entry of this.#entries) {
      if (entry.index > index) break
      applyTo(this.#keys, entry)
      count += 1
    }
    if (count > 0) this.#entries = this.#entries.slice(count)
  }

  /** Every key that is known, acknowledged or not. */
  known(): ShadowKey[] {
    const found = new Map(this.#keys)
    for (const { key } of this.#entries) found.set(key.subject, key)
    return [...found.values()]
  }

  /** The first state at or after the last acknowledged one that looks like this, if there is one. */
  find(recovered: ReadonlyMap<string, string>): FoundState | undefined {
    let index = this.#floor
    const keys: Keys = new Map()
    for (const [subject, key] of this.#keys) keys.set(subject, key.copyDurable())
    const different = new Set<string>()
    const compare = (subject: string): void => {
      const isSame = (keys.get(subject)?.describe() ?? EMPTY) === (recovered.get(subject) ?? EMPTY)
      if (isSame) different.delete(subject)
      else different.add(subject)
    }
    for (const subject of new Set([...keys.keys(), ...recovered.keys()])) compare(subject)
    for (const entry of this.#entries) {
      if (different.size === 0) break
      applyTo(keys, entry)
      compare(entry.key.subject)
      index = entry.index
    }
    return different.size === 0 ? { index, keys } : undefined
  }

  /** What was acknowledged, and what was decided, of every key that looks otherwise. */
  describeDifference(recovered: ReadonlyMap<string, string>): string {
    const acknowledged = new Map(this.#keys)
    const last: Keys = new Map(
      [...acknowledged].map(([subject, key]) => [subject, key.copyDurable()]),
    )
    for (const entry of this.#entries) applyTo(last, entry)
    const lines = this.known().flatMap(({ subject }) => {
      const found = recovered.get(subject) ?? EMPTY
      const before = acknowledged.get(subject)?.describe() ?? EMPTY
      const after = last.get(subject)?.describe() ?? EMPTY
      if (found === before && found === after) return []
      return [`${subject}: acknowledged ${before}, decided ${after}, found ${found}`]
    })
    return lines.join('; ')
  }

  /** From here on this is what was acknowledged. */
  restart(keys: Keys): void {
    this.#keys = new Map([...keys].map(([subject, key]) => [subject, key.copyDurable()]))
    this.#entries = []
  }
}

const EMPTY = new ShadowKey('lock', '').describe()

function applyTo(keys: Keys, { key, effects }: Entry): void {
  let copy = keys.get(key.subject)
  if (copy === undefined) {
    copy = new ShadowKey(key.namespace, key.key)
    keys.set(key.subject, copy)
  }
  for (const effect of effects) copy.apply(effect)
}
