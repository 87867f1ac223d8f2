import { createError, type LockError } from '../../engine/errors/errors.ts'
import type { Exchange } from '../http/exchange.ts'
import type { UnsentBytes } from '../http/unsent-bytes.ts'
import { EventStream } from './event-stream.ts'

/** A second or two: proxies and half-open connections are noticed soon. */
const HEARTBEAT_MS = 1_500

/**
 * Who is told of events: the streams of one server, and the watches of its sessions. Counted per principal;
 * the streams are ended together.
 */
export class OpenStreams {
  readonly #max: number
  readonly #unsent: UnsentBytes
  readonly #streams = new Set<EventStream>()
  /** Of streams and watches, by principal. */
  readonly #counts = new Map<string, number>()

  constructor(max: number, unsent: UnsentBytes) {
    this.#max = max
    this.#unsent = unsent
  }

  /** How many are open. */
  get size(): number {
    let size = 0
    for (const count of this.#counts.values()) size += count
    return size
  }

  /** One more for this principal; throws a `LimitError` where it has too many. Call once what it returns. */
  take(principal: string | undefined): () => void {
    const name = principal ?? ''
    const count = this.#counts.get(name) ?? 0
    if (count >= this.#max) throw tooMany(this.#max)
    this.#counts.set(name, count + 1)
    return () => {
      const left = (this.#counts.get(name) ?? 0) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }

  /** Answers an exchange with a stream; throws a `LimitError` where its principal has too many. */
  open(
    { context, credential, principal, response }: Exchange,
    heartbeatMs: number = HEARTBEAT_MS,
  ): EventStream {
    const leave = this.take(principal.name)
    const { socketClock } = context
    const stream = new EventStream(response, { socketClock, heartbeatMs, unsent: this.#unsent })
    const forget = credential.onRevoked(() => stream.close())
    this.#streams.add(stream)
    stream.onClose(() => {
      this.#streams.delete(stream)
      forget()
      leave()
    })
    return stream
  }

  close(): void {
    for (const stream of [...this.#streams]) stream.close()
  }
}

function tooMany(limit: number): LockError {
  const message = `at most ${limit} event streams may be open; try again when a connection has ended`
  return createError('LOCK_LIMIT', message, { details: { limit } })
}
