/** One proof that something is not as it must be. */
export interface Problem {
  /** The property that is violated, by its name in the docs. */
  readonly property: string
  readonly message: string
}

/** What was found so far. The first one counts; those that follow are often its children. */
export class Problems {
  readonly #found: Problem[] = []

  get first(): Problem | undefined {
    return this.#found[0]
  }

  get all(): readonly Problem[] {
    return this.#found
  }

  add(property: string, message: string): void {
    this.#found.push({ property, message })
  }
}
