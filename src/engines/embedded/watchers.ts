import type { WatchEvent, WatchFilter, Watching, WatchListener } from '../../engine/engine.ts'
import type { LawEvent } from '../../law/events.ts'

interface Watcher {
  readonly filter: WatchFilter
  readonly listener: WatchListener
}

/** Who watches, and what they are told. */
export class Watchers {
  readonly #watchers = new Set<Watcher>()
  readonly #onChange: (isEmpty: boolean) => void
  #lastId = 0

  constructor(onChange: (isEmpty: boolean) => void) {
    this.#onChange = onChange
  }

  add(filter: WatchFilter, listener: WatchListener): Watching {
    const watcher = { filter, listener }
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
      const told = toTold(event, this.#lastId, atMs)
      for (const { filter, listener } of this.#watchers) {
        if (matches(filter, event)) listener(told)
      }
    }
  }

  clear(): void {
    this.#watchers.clear()
  }
}

/** Written out: spreading the event would cost several times as much as the decision it is about. */
function toTold(event: LawEvent, id: number, atMs: number): WatchEvent {
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
  } satisfies Required<LawEvent> & { readonly id: number; readonly atMs: number }
}

function matches({ prefix, namespace }: WatchFilter, event: LawEvent): boolean {
  if (namespace !== undefined && namespace !== event.namespace) return false
  return prefix === undefined || event.key.startsWith(prefix)
}
