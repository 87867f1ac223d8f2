import type { Socket } from 'node:net'

export interface ConnectOptions {
  /** How long a database that was asked something may be silent, 15 s by default. */
  readonly silenceMsMax?: number | undefined
}

/** Longer than a key's row is waited for, and than a disk takes that is in trouble. */
const SILENCE_MS_MAX = 15_000

/**
 * A connection that was cut without a word looks like one whose server takes its time, for a quarter of an
 * hour. While it is in use it has to say something now and then; otherwise it is given up, and whoever
 * waits for an answer hears that nobody knows what became of it.
 */
export class SilenceLimit {
  readonly #silenceMsMax: number

  constructor({ silenceMsMax = SILENCE_MS_MAX }: ConnectOptions) {
    this.#silenceMsMax = silenceMsMax
  }

  /** Once for each connection. */
  watch(socket: Socket): void {
    socket.on('timeout', () => {
      const error = new Error('the database was silent for too long')
      socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
    })
  }

  onAcquired(socket: Socket): void {
    socket.setTimeout(this.#silenceMsMax)
  }

  onReleased(socket: Socket): void {
    socket.setTimeout(0)
  }
}
