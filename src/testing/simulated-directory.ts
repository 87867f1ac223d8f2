import type { Random } from './random.ts'
import { SimulatedFile } from './simulated-file.ts'

/** What a name points to from now on; null when it is gone. */
interface NameChange {
  readonly name: string
  readonly file: SimulatedFile | null
}

/** The names of one directory as programs see them, as the platter has them, and the difference. */
export class SimulatedDirectory {
  #visible = new Map<string, SimulatedFile>()
  #durable = new Map<string, SimulatedFile>()
  /** Each entry is one operation, which happens as a whole or not at all. */
  #unsynced: NameChange[][] = []

  /** The visible names, sorted. */
  names(): string[] {
    return [...this.#visible.keys()].sort()
  }

  find(name: string): SimulatedFile | undefined {
    return this.#visible.get(name)
  }

  link(name: string, file: SimulatedFile): void {
    this.#change([{ name, file }])
  }

  rename(from: string, to: string, file: SimulatedFile): void {
    this.#change([
      { name: from, file: null },
      { name: to, file },
    ])
  }

  unlink(name: string): void {
    this.#change([{ name, file: null }])
  }

  sync(): void {
    this.#durable = new Map(this.#visible)
    this.#unsynced = []
  }

  /** Any of the operations that were not synced survive; then each file loses its own. */
  losePower(random: Random): void {
    for (const changes of this.#unsynced) {
      if (random.chance(0.5)) apply(this.#durable, changes)
    }
    this.#unsynced = []
    this.#visible = new Map(this.#durable)
    for (const file of new Set(this.#visible.values())) file.losePower(random)
  }

  #change(changes: NameChange[]): void {
    apply(this.#visible, changes)
    this.#unsynced.push(changes)
  }
}

function apply(names: Map<string, SimulatedFile>, changes: readonly NameChange[]): void {
  for (const { name, file } of changes) {
    if (file === null) names.delete(name)
    else names.set(name, file)
  }
}
