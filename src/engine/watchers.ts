import type { WatchEvent, WatchFilter, Watching, WatchListener } from './engine.ts'
import type { LawEvent } from '../law/model/events.ts'
import type { Namespace } from '../law/model/view.ts'

interface Watcher {
  readonly prefix: string | undefined
  readonly namespace: Namespace | undefined
  readonly listener: WatchListener
}

/** Who watches, and what they are told. */
export class Watchers {
  readonly #watchers = new Set<Watcher>()
  readonly #onChange: (isEmpty: boolean) => void
  #lastId = 0

  constructor(onChange: (isEmpty: boolean) => void = () => {}) {
    this.#onChange = onChange
  }

  add(filter: WatchFilter, listener: WatchListener): Watching {
    const watcher: Watcher = { prefix: filter.prefix, namespace: filter.namespace, listener }
    this.#watchers.add(watcher)
    this.#onChange(false)
    const close = async (): Promise<void> => {
      this.#watchers.delete(watcher)
      this.#onChange(this.#watchers.size === 0)
    }
    return { close, [Symbol.asyncDispose]: close }
  }

  tell(events: readonly LawEvent[], atMs: number): void {
    for (const event of events) {
      this.#lastId += 1
      this.#tellOne(toWatchEvent(event, this.#lastId, atMs))
    }
  }

  #tellOne(event: LawEvent & WatchEvent): void {
    for (const watcher of this.#watchers) if (matches(watcher, event)) watcher.listener(event)
  }

  /** Something was missed: whoever watches has to read the state again. */
  tellReset(atMs: number): void {
    this.#lastId += 1
    for (const { listener } of this.#watchers) listener({ kind: 'reset', id: this.#lastId, atMs })
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0
  }

  clear(): void {
    this.#watchers.clear()
  }
}

/** Written out, so that all events have one shape: copying any shape there is costs several times as much. */
function toWatchEvent(event: LawEvent, id: number, atMs: number): LawEvent & WatchEvent {
  return {
    kind: event.kind,
    namespace: event.namespace,
    key: event.key,
    owner: event.owner,
    requestId: event.requestId,
    mode: event.mode,
    token: event.token,
    code: event.code,
    end: event.end,
    session: event.session,
    type: event.type,
    node: event.node,
    success: event.success,
    error: event.error,
    value: event.value,
    id,
    atMs,
  }
}

function matches({ prefix, namespace }: Watcher, event: LawEvent): boolean {
  if (namespace !== undefined && namespace !== event.namespace) return false
  return prefix === undefined || event.key.startsWith(prefix)
}
