import type { WatchEvent } from '../../engine/engine.ts'
import type { Coordination } from '../../law/model/settings.ts'
import type { EventHub, NumberedEvent } from '../observe/event-hub.ts'
import { type OperationNews, type StreamedEvent, toNews } from './operation-news.ts'
import { UnclaimedGrants } from './unclaimed-grants.ts'

export type NewsListener = (news: OperationNews) => void

/**
 * The news of operations, for those who listen on a resource. The events of one decision come one after
 * the other without a pause; they are looked at together, because the end of an operation reads
 * differently when it gave the lock to the next one.
 */
export class OperationFeed {
  readonly #hub: EventHub
  readonly #coordination: Coordination
  readonly #listeners = new Map<string, Set<NewsListener>>()
  readonly #unclaimed = new UnclaimedGrants()
  #batch: StreamedEvent[] = []

  constructor(hub: EventHub, coordination: Coordination) {
    this.#hub = hub
    this.#coordination = coordination
    hub.listen((event, number) => this.#take(event, number))
  }

  /** The id of the latest event: what comes after it is new. */
  get lastId(): string {
    return this.#hub.lastId
  }

  /** A listener may come back for what it missed. Returns how to stop. */
  listen(resource: string, listener: NewsListener): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set()
    this.#listeners.set(resource, listeners.add(listener))
    const leave = this.#hub.follow()
    return () => {
      leave()
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(resource) === listeners) {
        this.#listeners.delete(resource)
      }
    }
  }

  /** The news of a resource after an event, oldest first; `undefined` when they are no longer known. */
  since(id: string, resource: string): readonly OperationNews[] | undefined {
    const missed = this.#hub.since(id)?.filter(isAbout(resource))
    return (
      missed &&
      toNews(
        missed.map((one) => this.#streamed(one)),
        this.#coordination,
      )
    )
  }

  /** The holder of a resource has been told of its grant in an answer. */
  claim(resource: string, token: number): void {
    this.#unclaimed.claim(resource, token)
  }

  /** The grant of a resource that its node may not have heard of, if it was made since an instant. */
  unclaimed(resource: string, sinceMs: number): OperationNews | undefined {
    const found = this.#unclaimed.find(resource, sinceMs)
    return found && toNews([this.#streamed(found)], this.#coordination)[0]
  }

  #streamed({ number, event }: NumberedEvent): StreamedEvent {
    return { id: this.#hub.idOf(number), event }
  }

  #take(event: WatchEvent, number: number): void {
    if (event.kind !== 'reset') {
      if (event.namespace !== 'operation') return
      this.#unclaimed.hear(event, number)
      if (!this.#listeners.has(event.key)) return
    }
    this.#batch.push(this.#streamed({ number, event }))
    if (this.#batch.length === 1) queueMicrotask(() => this.#deliver())
  }

  #deliver(): void {
    const batch = this.#batch
    this.#batch = []
    const resources = new Set(
      batch.flatMap(({ event }) =>
        event.kind === 'reset' ? [...this.#listeners.keys()] : [event.key],
      ),
    )
    for (const resource of resources) {
      const all = toNews(batch.filter(isAbout(resource)), this.#coordination)
      for (const news of all) {
        for (const listener of [...(this.#listeners.get(resource) ?? [])]) listener(news)
      }
    }
  }
}

function isAbout(resource: string): (one: { readonly event: WatchEvent }) => boolean {
  return ({ event }) =>
    event.kind === 'reset' || (event.namespace === 'operation' && event.key === resource)
}
