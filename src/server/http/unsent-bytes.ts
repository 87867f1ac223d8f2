import type { Duplex } from 'node:stream'

export interface UnsentBytesOptions {
  /** Of all connections together. */
  readonly max: number
  /** Told how many bytes were waiting for a connection that was cut. */
  readonly onCut: (bytes: number) => void
}

/** So much may be sent before the connections are looked at again. */
const LOOK_BYTES: number = 8 * 1024 * 1024
/** When connections are cut, so much of the limit is left to the others. */
const KEPT_SHARE = 0.75

/**
 * What all connections of a server have not taken yet. Each has a bound of its own; when there is more than
 * the limit in all, those that are furthest behind are cut first, whatever they carry.
 */
export class UnsentBytes {
  readonly #options: UnsentBytesOptions
  readonly #connections = new Set<Duplex>()
  #sent = 0

  constructor(options: UnsentBytesOptions) {
    this.#options = options
  }

  /** Until it is closed. */
  watch(connection: Duplex): void {
    this.#connections.add(connection)
    connection.once('close', () => this.#connections.delete(connection))
  }

  get total(): number {
    let total = 0
    for (const { writableLength } of this.#connections) total += writableLength
    return total
  }

  /** To be told of everything that is written, so that looking costs nothing while little is. */
  wrote(bytes: number): void {
    this.#sent += bytes
    if (this.#sent < LOOK_BYTES) return
    this.#sent = 0
    if (this.total > this.#options.max) this.#cut()
  }

  #cut(): void {
    const { max, onCut } = this.#options
    let { total } = this
    const slowest = [...this.#connections].sort((a, b) => b.writableLength - a.writableLength)
    for (const connection of slowest) {
      if (total <= max * KEPT_SHARE) return
      const { writableLength } = connection
      total -= writableLength
      connection.destroy()
      onCut(writableLength)
    }
  }
}
