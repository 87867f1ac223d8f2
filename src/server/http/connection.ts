import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PIPELINED_MAX, PIPELINED_TOTAL_MAX } from '../server-limits.ts'

/** How often in a row a connection may be looked at without progress before it is cut. */
export interface LooksMax {
  /** Since the server has closed its side. */
  readonly leaving: number
  /** While its client takes nothing of what was written to it. */
  readonly unsent: number
}

export interface ConnectionParts {
  /** With TLS, what is inside of it. */
  readonly socket: Socket
  /** Above the limit on connections: its request is refused, and it is closed. */
  readonly isAbove: boolean
  /** Requests that stand behind another one, over all connections. */
  readonly pipelined: { count: number }
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

interface PipelinedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * One connection of an HTTP client. Its requests are handled one after the other, each when the answer
 * before it has left. So they take effect in their order; a client that pipelines a hundred waits, streams
 * or lists has one of them at a time; and every answer that was begun hears of the end of its connection,
 * which Node tells to the first answer in line alone.
 */
export class Connection {
  readonly isAbove: boolean
  readonly #parts: ConnectionParts
  readonly #behind: PipelinedRequest[] = []
  #current: ServerResponse | undefined
  readonly #onAnswered = (): void => this.#endAnswer()
  #takenBytes = 0
  #looks = 0

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.isAbove = parts.isAbove
  }

  /** A request was read to its end and its answer is not complete: what is sent now would be taken for that. */
  get isAnswering(): boolean {
    const current = this.#current
    return current !== undefined && current.req.complete && !current.writableEnded
  }

  onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket, pipelined } = this.#parts
    if (this.#current === undefined) {
      this.#begin(request, response)
    } else if (this.#behind.length < PIPELINED_MAX && pipelined.count < PIPELINED_TOTAL_MAX) {
      pipelined.count += 1
      this.#behind.push({ request, response })
    } else {
      socket.destroy()
    }
  }

  /**
   * Cuts a connection that does not come to its end: one that the server has closed and its client has not,
   * and one whose client does not read. Looks are counted and not time: a process that was stopped for a
   * while has not looked meanwhile.
   */
  look({ leaving, unsent }: LooksMax): void {
    const { socket } = this.#parts
    const { bytesWritten, writableLength, writableEnded } = socket
    const takenBytes = bytesWritten - writableLength
    const isStuck = (writableEnded || writableLength > 0) && takenBytes === this.#takenBytes
    this.#takenBytes = takenBytes
    this.#looks = isStuck ? this.#looks + 1 : 0
    if (this.#looks >= (writableEnded ? leaving : unsent)) socket.destroy()
  }

  onClosed(): void {
    this.#parts.pipelined.count -= this.#behind.length
    this.#behind.length = 0
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#current = response
    response.once('close', this.#onAnswered)
    this.#parts.handle(request, response)
  }

  /** Other connections have their turn before the next request of this one. */
  #endAnswer(): void {
    if (this.#behind.length === 0) this.#current = undefined
    else setImmediate(() => this.#beginNext())
  }

  /** Behind an answer that closes the connection nothing is begun. */
  #beginNext(): void {
    const { socket, pipelined } = this.#parts
    this.#current = undefined
    if (socket.writableEnded || socket.destroyed) return
    const next = this.#behind.shift()
    if (next === undefined) return
    pipelined.count -= 1
    this.#begin(next.request, next.response)
  }
}
