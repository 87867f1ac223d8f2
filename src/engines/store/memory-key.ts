import { compareNames } from '../../engine/validation/names.ts'
import type {
  AskedKey,
  KeyCounts,
  KeyName,
  KeyWrite,
  LoadedKey,
  Part,
  Version,
  Want,
} from './key-store.ts'
import { SortedParts } from './sorted-parts.ts'
import { WHOLE_PARTS_MAX } from './store-limits.ts'

const NO_COUNTS: KeyCounts = { holds: 0, waiters: 0, references: 0, ended: 0 }

/** The process that has the next write of a key, and until when. */
interface Turn {
  readonly process: string
  readonly untilMs: number
}

/** One present key, with everything that goes when it is removed. */
export class MemoryKey {
  readonly name: KeyName
  #version: Version = ''
  #head = ''
  #groups: Map<string, SortedParts> = new Map()
  #labels: Set<string> = new Set()
  dueAtMs: number | null = null
  counts: KeyCounts = NO_COUNTS
  turn: Turn | undefined

  constructor(name: KeyName) {
    this.name = name
  }

  get version(): Version {
    return this.#version
  }

  get labels(): ReadonlySet<string> {
    return this.#labels
  }

  get partCount(): number {
    let count = 0
    for (const parts of this.#groups.values()) count += parts.size
    return count
  }

  write(change: KeyWrite, version: Version): void {
    const { head, puts = [], removes = [], dueAtMs, labels = new Map(), counts } = change
    this.#version = version
    this.#head = head
    for (const { group, id } of removes) this.#groups.get(group)?.remove(id)
    for (const part of puts) this.#put(part)
    for (const [label, isOn] of labels) {
      if (isOn) this.#labels.add(label)
      else this.#labels.delete(label)
    }
    if (dueAtMs !== undefined) this.dueAtMs = dueAtMs
    if (counts !== undefined) this.counts = counts
  }

  #put(part: Part): void {
    const parts = this.#groups.get(part.group) ?? new SortedParts()
    this.#groups.set(part.group, parts)
    parts.put(part)
  }

  load({ known, wants = [] }: AskedKey): LoadedKey {
    const isKnown = known === this.#version
    const whole = !isKnown && this.partCount <= WHOLE_PARTS_MAX
    return {
      name: this.name,
      version: this.#version,
      head: isKnown ? null : this.#head,
      parts: whole ? this.#everyPart() : this.#wanted(wants),
      whole,
      counted: wants.flatMap((want) =>
        want.kind === 'count' ? [this.#groups.get(want.group)?.count(want) ?? 0] : [],
      ),
    }
  }

  #everyPart(): Part[] {
    const groups = [...this.#groups].sort(([one], [other]) => compareNames(one, other))
    return groups.flatMap(([, parts]) => parts.all())
  }

  #wanted(wants: readonly Want[]): Part[] {
    const found = new Set(wants.flatMap((want) => this.#find(want)))
    return [...found].sort(
      (one, other) => compareNames(one.group, other.group) || compareNames(one.id, other.id),
    )
  }

  #find(want: Want): readonly Part[] {
    const parts = this.#groups.get(want.group)
    if (parts === undefined || want.kind === 'count') return []
    if (want.kind === 'range') return parts.range(want, want.limit)
    return want.ids.flatMap((id) => parts.find(id) ?? [])
  }

  copy(): MemoryKey {
    const copy = new MemoryKey(this.name)
    copy.#version = this.#version
    copy.#head = this.#head
    copy.#groups = new Map([...this.#groups].map(([id, one]) => [id, new SortedParts(one.all())]))
    copy.#labels = new Set(this.#labels)
    copy.dueAtMs = this.dueAtMs
    copy.counts = this.counts
    copy.turn = this.turn
    return copy
  }
}

/** A key that is not there. */
export function loadAbsent({ name, wants = [] }: AskedKey): LoadedKey {
  const counted = wants.flatMap(({ kind }) => (kind === 'count' ? [0] : []))
  return { name, version: '', head: null, parts: [], whole: true, counted }
}
