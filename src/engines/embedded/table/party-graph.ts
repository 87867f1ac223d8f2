import type { KeyView, WaitGraph, Waiter } from '../../../law/model/view.ts'
import { Groups } from './groups.ts'
import type { WaiterRecord } from './waiter-record.ts'

/**
 * Who waits where, by party: what the law needs to see a cycle. Holds are not listed here; the law
 * finds them through the keys on which parties wait, so a hold costs nothing.
 */
export class PartyGraph implements WaitGraph {
  readonly #waits = new Groups<string, WaiterRecord>()
  /** The waiters of each key whose party waits elsewhere too. Nearly always empty. */
  readonly #entangled = new Groups<KeyView, WaiterRecord>()

  isWaiting(party: string): boolean {
    return this.#waits.has(party)
  }

  *waitsOf(party: string): Iterable<{ readonly view: KeyView; readonly waiter: Waiter }> {
    for (const waiter of this.#waits.of(party)) yield { view: waiter.state, waiter }
  }

  isEntangled(view: KeyView): boolean {
    return this.#entangled.has(view)
  }

  entangled(view: KeyView): Iterable<Waiter> {
    return this.#entangled.of(view)
  }

  add(waiter: WaiterRecord): void {
    const { party } = waiter
    this.#waits.add(party, waiter)
    if (this.#waits.sizeOf(party) === 1) return
    for (const one of this.#waits.of(party)) this.#entangled.add(one.state, one)
  }

  remove(waiter: WaiterRecord): void {
    const { party } = waiter
    this.#waits.delete(party, waiter)
    if (this.#entangled.isEmpty) return
    this.#entangled.delete(waiter.state, waiter)
    if (this.#waits.sizeOf(party) !== 1) return
    for (const last of this.#waits.of(party)) this.#entangled.delete(last.state, last)
  }
}
