/**
 * Commands on one key take effect in the order in which they were given, although requests on two
 * connections have none: the next one is sent when the one before it has its place in the server's
 * order. Commands on other keys do not wait for it.
 */
export class KeyOrder {
  /** For each key with something under way, when the latest has passed. */
  readonly #latest = new Map<string, Promise<void>>()

  /** `send` calls `pass` as soon as the next command may be sent; at the latest that is when it settles. */
  async run<T>(key: string, send: (pass: () => void) => Promise<T>): Promise<T> {
    const before = this.#latest.get(key)
    let pass: () => void = () => {}
    const passed = new Promise<void>((resolve) => {
      pass = resolve
    })
    this.#latest.set(key, passed)
    try {
      if (before !== undefined) await before
      return await send(pass)
    } finally {
      pass()
      if (this.#latest.get(key) === passed) this.#latest.delete(key)
    }
  }
}
