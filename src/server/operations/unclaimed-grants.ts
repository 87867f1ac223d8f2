import type { LawEvent } from '../../law/model/events.ts'
import type { WatchEvent } from '../../engine/engine.ts'
import type { NumberedEvent } from '../observe/event-hub.ts'

/** The latest grant of a resource, and whether its node has shown that it knows of it. */
interface Grant extends NumberedEvent {
  readonly token: number | undefined
  isClaimed: boolean
}

/**
 * Which grants may not have reached their nodes. A client that does not say who it is can miss its grant
 * between asking and listening; it is reminded, but only while there is something to be reminded of, or
 * every node in the queue would ask again because of another node's lock.
 *
 * On an engine that several servers share, a claim through another server is not seen here; a grant is
 * then taken for open until the time to claim it has passed.
 */
export class UnclaimedGrants {
  readonly #grants = new Map<string, Grant>()

  /** An event of an operation. */
  hear(event: WatchEvent & LawEvent, number: number): void {
    const { kind, key, token } = event
    if (kind === 'granted') this.#grants.set(key, { number, event, token, isClaimed: false })
    else if (kind === 'completed' || kind === 'cancelled') {
      if (token === this.#grants.get(key)?.token) this.#grants.delete(key)
    }
  }

  /** The holder of a resource has been told of its grant in an answer. */
  claim(resource: string, token: number): void {
    const grant = this.#grants.get(resource)
    if (grant?.token === token) grant.isClaimed = true
  }

  /** The grant of a resource that its node may not know of, if it was made at or after an instant. */
  find(resource: string, sinceMs: number): NumberedEvent | undefined {
    const grant = this.#grants.get(resource)
    if (grant === undefined || grant.isClaimed) return undefined
    return grant.event.atMs >= sinceMs ? grant : undefined
  }
}
