import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '../../time/clock.ts'
import type { UnsentBytes } from '../http/unsent-bytes.ts'

/** Unsent bytes after which a client is taken for one that does not read. */
const UNSENT_BYTES_MAX = 256 * 1024

export interface EventStreamOptions {
  /** Measures the heartbeat: real time, also where the engine has another clock. */
  readonly socketClock: Clock
  /** A comment is sent this often, so that proxies and half-open connections are noticed. */
  readonly heartbeatMs: number
  readonly unsent: UnsentBytes
}

/** One event of a stream. Without `data` it only says where the stream stands. */
export interface StreamEvent {
  readonly id?: string | undefined
  /** A name other than the usual `message`. */
  readonly event?: string | undefined
  /** Sent as one line of JSON, which has no line breaks of its own. */
  readonly data?: unknown
}

/**
 * An answer that goes on: Server-Sent Events. A client that does not read is dropped, so that it costs a
 * bounded amount of memory.
 */
export class EventStream {
  readonly #response: ServerResponse
  readonly #options: EventStreamOptions
  readonly #onClose: (() => void)[] = []
  #heartbeat: Timer | undefined
  #isOpen = true

  /** Sends the head of the answer at once: the client knows that it is listened to. */
  constructor(response: ServerResponse, options: EventStreamOptions) {
    this.#response = response
    this.#options = options
    response.once('close', () => this.#end())
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      // A stream is the last answer on its connection: a request behind it could not be answered.
      connection: 'close',
    })
    response.flushHeaders()
    response.socket?.setNoDelay(true)
    this.#beat()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Called once, when either side has ended the stream. */
  onClose(listener: () => void): void {
    if (this.#isOpen) this.#onClose.push(listener)
    else listener()
  }

  send({ id, event, data }: StreamEvent): void {
    let text = id === undefined ? '' : `id: ${oneLine(id)}\n`
    if (event !== undefined) text += `event: ${oneLine(event)}\n`
    if (data !== undefined) text += `data: ${JSON.stringify(data)}\n`
    this.#write(`${text}\n`)
  }

  /** A line that clients ignore. */
  comment(text = ''): void {
    this.#write(`: ${oneLine(text)}\n\n`)
  }

  /** Whether there is more to be sent than the socket takes: those who send much wait for `drained`. */
  get isFull(): boolean {
    return this.#response.writableNeedDrain
  }

  /** Resolves when what was sent has left, or when the stream is over. */
  drained(): Promise<void> {
    if (!this.#isOpen || !this.isFull) return Promise.resolve()
    return new Promise((resolve) => {
      this.#response.once('drain', resolve)
      this.onClose(resolve)
    })
  }

  close(): void {
    if (!this.#isOpen) return
    this.#end()
    this.#response.end()
  }

  #write(text: string): void {
    if (!this.#isOpen) return
    this.#response.write(text)
    if (this.#response.writableLength > UNSENT_BYTES_MAX) this.#response.destroy()
    else this.#options.unsent.wrote(text.length)
  }

  #beat(): void {
    const { socketClock, heartbeatMs } = this.#options
    this.#heartbeat = socketClock.setTimer(heartbeatMs, () => {
      this.comment()
      if (this.#isOpen) this.#beat()
    })
  }

  #end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#heartbeat?.cancel()
    for (const listener of this.#onClose.splice(0)) listener()
  }
}

/** A line break in a name would forge a line of the stream. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ')
}
