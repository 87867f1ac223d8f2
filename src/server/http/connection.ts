import type { Socket } from 'node:net'

/** How often in a row a connection may be looked at without progress before it is cut. */
export interface LooksMax {
  /** Since the server has closed its side. */
  readonly leaving: number
  /** While its client takes nothing of what was written to it. */
  readonly unsent: number
}

/** One connection of an HTTP client: with TLS, what is inside of it. */
export class Connection {
  /** Above the limit on connections: its request is refused, and it is closed. */
  readonly isAbove: boolean
  readonly #socket: Socket
  #takenBytes = 0
  #looks = 0

  constructor(socket: Socket, isAbove: boolean) {
    this.#socket = socket
    this.isAbove = isAbove
  }

  /**
   * Cuts a connection that does not come to its end: one that the server has closed and its client has not,
   * and one whose client does not read. Looks are counted and not time: a process that was stopped for a
   * while has not looked meanwhile.
   */
  look({ leaving, unsent }: LooksMax): void {
    const { bytesWritten, writableLength, writableEnded } = this.#socket
    const takenBytes = bytesWritten - writableLength
    const isStuck = (writableEnded || writableLength > 0) && takenBytes === this.#takenBytes
    this.#takenBytes = takenBytes
    this.#looks = isStuck ? this.#looks + 1 : 0
    if (this.#looks >= (writableEnded ? leaving : unsent)) this.#socket.destroy()
  }
}
