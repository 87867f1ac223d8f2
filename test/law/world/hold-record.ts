import type { Hold, OperationFacts, Step } from '../../../src/law/model/view.ts'

/**
 * A hold as an engine may keep it: everything is behind a getter. A law that spreads what it is shown,
 * or compares it by identity, is found out.
 */
export class HoldRecord implements Hold {
  readonly #hold: Hold

  constructor(hold: Hold) {
    this.#hold = hold
  }

  get owner(): string {
    return this.#hold.owner
  }

  get party(): string {
    return this.#hold.party
  }

  get session(): string | undefined {
    return this.#hold.session
  }

  get reads(): number {
    return this.#hold.reads
  }

  get writes(): number {
    return this.#hold.writes
  }

  get token(): number {
    return this.#hold.token
  }

  get sinceMs(): number {
    return this.#hold.sinceMs
  }

  get leaseAtMs(): number {
    return this.#hold.leaseAtMs
  }

  get ttlMs(): number {
    return this.#hold.ttlMs
  }

  get steps(): readonly Step[] {
    return this.#hold.steps
  }

  get meta(): string | undefined {
    return this.#hold.meta
  }

  get operation(): OperationFacts | undefined {
    return this.#hold.operation
  }
}
