import { type Principal, UNNAMED } from './principal.ts'

/** By what a client was let in: one token of a principal, as long as the token and its rights stay as they are. */
export class Credential {
  readonly principal: Principal
  readonly #listeners = new Set<() => void>()
  #isRevoked = false

  constructor(principal: Principal) {
    this.principal = principal
  }

  get isRevoked(): boolean {
    return this.#isRevoked
  }

  /** Calls back once, when whatever was begun by it is to end. Returns how not to be told. */
  onRevoked(listener: () => void): () => void {
    // A listener of its own for each call, whatever function it is.
    const own = (): void => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  revoke(): void {
    this.#isRevoked = true
    for (const listener of [...this.#listeners]) listener()
    this.#listeners.clear()
  }
}

/** Where auth is off everything is asked for by this. */
export const NO_CREDENTIAL: Credential = new Credential(UNNAMED)
