import { HISTORY_KEPT_MS, HISTORY_PER_KEY_MAX } from '../../engine/history-rules.ts'
import { compareNames } from '../../engine/validation/names.ts'
import type {
  AskedKey,
  CommitOptions,
  CommitResult,
  DueKeys,
  KeptHistory,
  KeyChange,
  KeyName,
  LabelledKeys,
  ListedNames,
  LoadedKey,
  Space,
  StoreCounts,
} from './key-store.ts'
import { loadAbsent, MemoryKey } from './memory-key.ts'
import { COMMIT_WINDOW_MS, TURN_MS_MAX } from './store-limits.ts'

interface KeptEntry {
  readonly name: KeyName
  readonly atMs: number
  readonly entry: string
}

/** All that a fail-over could bring back. */
export interface SavedKeys {
  readonly keys: readonly MemoryKey[]
  readonly history: readonly KeptEntry[]
}

/** A commit as the store sees it: options, process, and the moment. */
export interface CommitMoment extends CommitOptions {
  readonly process: string
  readonly nowMs: number
}

/** What all processes share. Everything is found by going through all keys: a simulation has few. */
export class MemoryKeys {
  #keys = new Map<string, MemoryKey>()
  #history: KeptEntry[] = []
  #versions = 0

  load(asked: AskedKey): LoadedKey {
    return this.#find(asked.name)?.load(asked) ?? loadAbsent(asked)
  }

  #find(name: KeyName): MemoryKey | undefined {
    return this.#keys.get(toText(name))
  }

  #versionOf(name: KeyName): string {
    return this.#find(name)?.version ?? ''
  }

  commit(change: KeyChange, moment: CommitMoment): CommitResult {
    const { nowMs, atMs, process } = moment
    const load = (): LoadedKey => this.load({ name: change.name, wants: change.wants })
    if (nowMs < atMs || nowMs >= atMs + COMMIT_WINDOW_MS) return { kind: 'clock', key: load() }
    const key = this.#find(change.name)
    const turn = key?.turn
    const isTaken = turn !== undefined && turn.untilMs > nowMs && turn.process !== process
    if (isTaken && change.kind !== 'check') return { kind: 'other-turn', key: load() }
    const moved = (change.unchanged ?? []).filter(
      ({ name, version }) => this.#versionOf(name) !== version,
    )
    if (moved.length > 0 || this.#versionOf(change.name) !== change.expected) {
      if (moment.turn === true && !isTaken && key !== undefined) {
        key.turn = { process, untilMs: nowMs + TURN_MS_MAX }
      }
      return { kind: 'conflict', key: load(), moved: moved.map(({ name }) => this.load({ name })) }
    }
    return { kind: 'committed', version: this.#apply(change, nowMs) }
  }

  #apply(change: KeyChange, nowMs: number): string {
    const { kind, name, expected } = change
    if (kind === 'check') return expected
    for (const entry of change.history ?? []) this.#history.push({ name, atMs: nowMs, entry })
    if (kind === 'remove') {
      this.#keys.delete(toText(name))
      return ''
    }
    const key = this.#find(name) ?? new MemoryKey(name)
    this.#keys.set(toText(name), key)
    this.#versions += 1
    key.write(change, String(this.#versions))
    key.turn = undefined
    return key.version
  }

  due(nowMs: number, limit: number): DueKeys {
    const dueAtMs = (key: MemoryKey): number => key.dueAtMs ?? Infinity
    const waiting = [...this.#keys.values()]
      .filter((key) => key.dueAtMs !== null)
      .sort((one, other) => dueAtMs(one) - dueAtMs(other))
    const names = waiting.filter((key) => dueAtMs(key) <= nowMs).slice(0, limit)
    const nextAtMs = waiting[names.length]?.dueAtMs ?? null
    return { nowMs, names: names.map(({ name }) => name), nextAtMs }
  }

  list({ space, prefix, after, limit }: ListedNames): string[] {
    return [...this.#keys.values()]
      .filter(({ name }) => name.space === space && name.name.startsWith(prefix))
      .map(({ name }) => name.name)
      .filter((name) => after === undefined || compareNames(name, after) > 0)
      .sort(compareNames)
      .slice(0, limit)
  }

  find({ label, after, limit }: LabelledKeys): KeyName[] {
    return [...this.#keys.values()]
      .filter(({ labels }) => labels.has(label))
      .map(({ name }) => name)
      .filter((name) => after === undefined || compareKeys(name, after) > 0)
      .sort(compareKeys)
      .slice(0, limit)
  }

  count(): StoreCounts {
    const sums = { holds: 0, waiters: 0, references: 0, ended: 0 }
    const keys: Record<Space, number> = { lock: 0, operation: 0, process: 0, session: 0 }
    for (const { name, counts } of this.#keys.values()) {
      keys[name.space] += 1
      sums.holds += counts.holds
      sums.waiters += counts.waiters
      sums.references += counts.references
      sums.ended += counts.ended
    }
    return { ...sums, keys }
  }

  history({ name, space, limit }: KeptHistory, nowMs: number): string[] {
    return this.#keptHistory(nowMs)
      .filter((one) => name === undefined || one.name.name === name)
      .filter((one) => space === undefined || one.name.space === space)
      .slice(0, limit)
      .map(({ entry }) => entry)
  }

  /** The latest first. */
  #keptHistory(nowMs: number): KeptEntry[] {
    const counts = new Map<string, number>()
    return this.#history.toReversed().filter(({ name, atMs }) => {
      const count = (counts.get(toText(name)) ?? 0) + 1
      counts.set(toText(name), count)
      return count <= HISTORY_PER_KEY_MAX && atMs > nowMs - HISTORY_KEPT_MS
    })
  }

  tidy(nowMs: number): void {
    this.#history = this.#keptHistory(nowMs).toReversed()
  }

  /** How many records there are, of every kind. */
  get size(): number {
    let size = this.#history.length
    for (const key of this.#keys.values()) size += 1 + key.partCount + key.labels.size
    return size
  }

  save(): SavedKeys {
    return { keys: [...this.#keys.values()].map((key) => key.copy()), history: [...this.#history] }
  }

  /** Everything as it was saved; only versions go on. */
  restore({ keys, history }: SavedKeys): void {
    this.#keys = new Map(keys.map((key) => [toText(key.name), key.copy()]))
    this.#history = [...history]
  }
}

/** No space has a space in its name. */
function toText({ space, name }: KeyName): string {
  return `${space} ${name}`
}

function compareKeys(one: KeyName, other: KeyName): number {
  return compareNames(one.space, other.space) || compareNames(one.name, other.name)
}
