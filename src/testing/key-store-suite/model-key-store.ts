import type { KeyName, KeyWrite } from '../../engines/store/key-store.ts'

interface ModelKey {
  readonly name: KeyName
  readonly version: string
  readonly head: string
  readonly parts: ReadonlyMap<string, string>
  readonly labels: ReadonlySet<string>
  readonly dueAtMs: number | null
  readonly holds: number
}

/** What a store is to hold, kept in the plainest way: a map of whole keys. Parts are of one group. */
export class ModelKeyStore {
  readonly #keys = new Map<string, ModelKey>()

  find(name: KeyName): ModelKey | undefined {
    return this.#keys.get(name.name)
  }

  all(): ModelKey[] {
    return [...this.#keys.values()]
  }

  write(change: KeyWrite, version: string): void {
    const { name, head, puts = [], removes = [], labels = new Map() } = change
    const before = this.find(name)
    const parts = new Map(before?.parts)
    for (const { id, body } of puts) parts.set(id, body)
    for (const { id } of removes) parts.delete(id)
    const present = new Set(before?.labels)
    for (const [label, isOn] of labels) {
      if (isOn) present.add(label)
      else present.delete(label)
    }
    const dueAtMs = change.dueAtMs === undefined ? (before?.dueAtMs ?? null) : change.dueAtMs
    const holds = change.counts?.holds ?? before?.holds ?? 0
    this.#keys.set(name.name, { name, version, head, parts, labels: present, dueAtMs, holds })
  }

  remove(name: KeyName): void {
    this.#keys.delete(name.name)
  }
}
