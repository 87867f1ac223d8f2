import type { Exchange } from '../http/exchange.ts'
import { HttpError } from '../http/http-error.ts'
import { EventStream } from './event-stream.ts'

/** The streams of one server: counted per principal, ended together. */
export class OpenStreams {
  readonly #streams = new Map<string, Set<EventStream>>()

  /** How many are open. */
  get size(): number {
    let size = 0
    for (const streams of this.#streams.values()) size += streams.size
    return size
  }

  /** Answers an exchange with a stream; throws an `HttpError` where its principal has too many. */
  open({ context, principal, response }: Exchange, heartbeatMs: number): EventStream {
    const name = principal.name ?? ''
    const streams = this.#streams.get(name) ?? new Set()
    const { socketClock, limits } = context
    if (streams.size >= limits.streams) throw tooMany(limits.streams)
    const stream = new EventStream(response, { socketClock, heartbeatMs })
    this.#streams.set(name, streams.add(stream))
    stream.onClose(() => {
      streams.delete(stream)
      if (streams.size === 0) this.#streams.delete(name)
    })
    return stream
  }

  close(): void {
    for (const streams of [...this.#streams.values()]) {
      for (const stream of [...streams]) stream.close()
    }
  }
}

function tooMany(limit: number): HttpError {
  return new HttpError(429, 'limit', {
    message: `at most ${limit} event streams may be open; try again when a connection has ended`,
    details: { limit },
    headers: { 'retry-after': '1' },
  })
}
