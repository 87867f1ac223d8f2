import type { KeyView, WaitGraph, Waiter } from '../../../law/model/view.ts'
import { FreshMap } from './fresh-map.ts'
import type { WaiterRecord } from './waiter-record.ts'

/**
 * Who waits where, by party: what the law needs to see a cycle. Holds are not listed here; the law
 * finds them through the keys on which parties wait, so a hold costs nothing. Nearly every party waits
 * once, and such a waiter stands here without a set around it.
 */
export class PartyGraph implements WaitGraph {
  readonly #waits = new FreshMap<WaiterRecord | Set<WaiterRecord>>()
  /** The waiters of each key whose party waits elsewhere too. Nearly always empty. */
  readonly #entangled = new Map<KeyView, Set<WaiterRecord>>()

  isWaiting(party: string): boolean {
    return this.#waits.has(party)
  }

  *waitsOf(party: string): Iterable<{ readonly view: KeyView; readonly waiter: Waiter }> {
    const waits = this.#waits.get(party)
    if (waits instanceof Set) {
      for (const waiter of waits) yield { view: waiter.state, waiter }
    } else if (waits !== undefined) {
      yield { view: waits.state, waiter: waits }
    }
  }

  isEntangled(view: KeyView): boolean {
    return this.#entangled.size > 0 && this.#entangled.has(view)
  }

  entangled(view: KeyView): Iterable<Waiter> {
    return this.#entangled.get(view) ?? []
  }

  add(waiter: WaiterRecord): void {
    const before = this.#waits.get(waiter.party)
    if (before === undefined) {
      this.#waits.set(waiter.party, waiter)
      return
    }
    const waits = before instanceof Set ? before : new Set([before])
    waits.add(waiter)
    this.#waits.set(waiter.party, waits)
    for (const one of waits) this.#entangle(one)
  }

  #entangle(waiter: WaiterRecord): void {
    const known = this.#entangled.get(waiter.state)
    if (known === undefined) this.#entangled.set(waiter.state, new Set([waiter]))
    else known.add(waiter)
  }

  remove(waiter: WaiterRecord): void {
    // Where nobody is entangled nobody waits twice.
    const waits = this.#entangled.size === 0 ? undefined : this.#waits.get(waiter.party)
    if (!(waits instanceof Set)) {
      this.#waits.delete(waiter.party)
      return
    }
    waits.delete(waiter)
    this.#disentangle(waiter)
    if (waits.size > 1) return
    for (const last of waits) {
      this.#disentangle(last)
      this.#waits.set(waiter.party, last)
    }
  }

  #disentangle(waiter: WaiterRecord): void {
    const known = this.#entangled.get(waiter.state)
    known?.delete(waiter)
    if (known?.size === 0) this.#entangled.delete(waiter.state)
  }
}
