import type { KeyView, WaitGraph, Waiter } from '../../law/view.ts'
import type { WaiterRecord } from './waiter-record.ts'

/**
 * Who waits where, by party: what the law needs to see a cycle. Holds are not listed here; the law
 * finds them through the keys on which parties wait, so a hold costs nothing.
 */
export class PartyGraph implements WaitGraph {
  readonly #waits = new Map<string, Set<WaiterRecord>>()
  /** The waiters of each key whose party waits elsewhere too. Nearly always empty. */
  readonly #entangled = new Map<KeyView, Set<WaiterRecord>>()

  entangled(view: KeyView): Iterable<Waiter> {
    return this.#entangled.get(view) ?? []
  }

  *waitsOf(party: string): Iterable<{ readonly view: KeyView; readonly waiter: Waiter }> {
    for (const waiter of this.#waits.get(party) ?? []) yield { view: waiter.state, waiter }
  }

  add(waiter: WaiterRecord): void {
    const waits = this.#waits.get(waiter.party)
    if (waits === undefined) {
      this.#waits.set(waiter.party, new Set([waiter]))
      return
    }
    waits.add(waiter)
    for (const one of waits) this.#entangle(one)
  }

  #entangle(waiter: WaiterRecord): void {
    const known = this.#entangled.get(waiter.state)
    if (known === undefined) this.#entangled.set(waiter.state, new Set([waiter]))
    else known.add(waiter)
  }

  remove(waiter: WaiterRecord): void {
    const waits = this.#waits.get(waiter.party)
    if (waits === undefined) return
    waits.delete(waiter)
    if (waits.size === 0) this.#waits.delete(waiter.party)
    if (waits.size === 0) return
    this.#disentangle(waiter)
    if (waits.size === 1) for (const last of waits) this.#disentangle(last)
  }

  #disentangle(waiter: WaiterRecord): void {
    const known = this.#entangled.get(waiter.state)
    known?.delete(waiter)
    if (known?.size === 0) this.#entangled.delete(waiter.state)
  }
}
