import type { FaultKind } from './fault-kinds.ts'

/** Proof that faults happened. */
export class FaultLog {
  readonly #counts = new Map<FaultKind, number>()

  count(kind: FaultKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }

  counts(): Readonly<Partial<Record<FaultKind, number>>> {
    return Object.fromEntries(this.#counts)
  }
}
