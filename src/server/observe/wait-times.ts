import type { LawEvent } from '../../law/model/events.ts'
import type { Namespace } from '../../law/model/view.ts'

/** What is told how long each request has waited. */
interface Waits {
  observe(seconds: number): void
}

/** Since when each request waits for a key, by owner and request id. */
type KeyWaits = Map<string, number>

/**
 * How long requests wait, by what the engine tells of them, so that it does not matter how a client waits:
 * in an open request, over a session, or by coming back now and then. Asking again tells nothing new, so each
 * request counts once. A request that leaves its queue is forgotten.
 */
export class WaitTimes {
  readonly #waits: Waits
  readonly #nowMs: () => number
  readonly #waiting: Readonly<Record<Namespace, Map<string, KeyWaits>>> = {
    lock: new Map(),
    operation: new Map(),
  }

  constructor(waits: Waits, nowMs: () => number) {
    this.#waits = waits
    this.#nowMs = nowMs
  }

  hear(event: LawEvent): void {
    if (event.kind === 'granted') this.#waits.observe(this.#take(event) ?? 0)
    else if (event.kind === 'queued') this.#add(event)
    else if (event.kind === 'cancelled') {
      // A grant that was undone was a wait before, and is none now.
      const seconds = this.#take(event)
      if (seconds !== undefined) this.#waits.observe(seconds)
    }
  }

  /** Events were missed: a request that waited may have left. */
  forget(): void {
    this.#waiting.lock.clear()
    this.#waiting.operation.clear()
  }

  #add(event: LawEvent): void {
    const keys = this.#waiting[event.namespace]
    const waits = keys.get(event.key) ?? new Map<string, number>()
    if (waits.size === 0) keys.set(event.key, waits)
    waits.set(toId(event), this.#nowMs())
  }

  /** How many seconds the request has waited; `undefined` for one that has not. */
  #take(event: LawEvent): number | undefined {
    const keys = this.#waiting[event.namespace]
    const waits = keys.get(event.key)
    if (waits === undefined) return undefined
    const id = toId(event)
    const sinceMs = waits.get(id)
    if (sinceMs === undefined) return undefined
    if (waits.size === 1) keys.delete(event.key)
    else waits.delete(id)
    return (this.#nowMs() - sinceMs) / 1_000
  }
}

/** Names have no control characters. */
function toId({ owner, requestId }: LawEvent): string {
  return `${owner}\n${requestId}`
}
