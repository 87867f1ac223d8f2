import type { NumberedEvent } from '../observe/event-hub.ts'

/** The latest grant of a resource, and whether its node has shown that it knows of it. */
interface Grant {
  readonly granted: NumberedEvent
  isClaimed: boolean
}

/**
 * Which grants may not have reached their nodes. A client that does not say who it is can miss its grant
 * between asking and listening; it is reminded, but only while there is something to be reminded of, or
 * every node in the queue would ask again because of somebody else's lock.
 *
 * On an engine that several servers share, a claim through another server is not seen here; a grant is
 * then taken for open until the time to claim it has passed.
 */
export class UnclaimedGrants {
  readonly #grants = new Map<string, Grant>()

  hear(numbered: NumberedEvent): void {
    const { event } = numbered
    if (event.kind === 'reset' || event.namespace !== 'operation') return
    if (event.kind === 'granted') {
      this.#grants.set(event.key, { granted: numbered, isClaimed: false })
    } else if (event.kind === 'completed' || event.kind === 'cancelled') {
      if (event.token === tokenOf(this.#grants.get(event.key))) this.#grants.delete(event.key)
    }
  }

  /** The holder of a resource has been told of its grant in an answer. */
  claim(resource: string, token: number): void {
    const grant = this.#grants.get(resource)
    if (grant !== undefined && tokenOf(grant) === token) grant.isClaimed = true
  }

  /** The grant of a resource that its node may not know of, if it was made at or after an instant. */
  find(resource: string, sinceMs: number): NumberedEvent | undefined {
    const grant = this.#grants.get(resource)
    if (grant === undefined || grant.isClaimed) return undefined
    return grant.granted.event.atMs >= sinceMs ? grant.granted : undefined
  }
}

function tokenOf(grant: Grant | undefined): number | undefined {
  return grant !== undefined && 'token' in grant.granted.event
    ? grant.granted.event.token
    : undefined
}
