import type { WatchEvent, WatchFilter } from '../../../engine/engine.ts'
import type { Problems } from '../problems.ts'
import { toLine, type Trace } from '../trace.ts'

type Change = Exclude<WatchEvent, { kind: 'reset' }>

/** A place among the events that one life of the engine told. */
export interface EventPlace {
  readonly events: readonly Change[]
  readonly index: number
}

/**
 * What the engine told, for those who watch it through a link: from the place at which its watch began
 * a watcher hears every event, in order; and where the watch had to begin anew it hears `reset` first.
 */
export class WatchBoard {
  readonly #problems: Problems
  readonly #trace: Trace
  #events: Change[] = []
  /** Where the watches of each watcher began, by the id of what it was told then. */
  readonly #places = new Map<string, Map<number, EventPlace>>()

  constructor(problems: Problems, trace: Trace) {
    this.#problems = problems
    this.#trace = trace
  }

  beginLife(): void {
    this.#events = []
  }

  /** By the engine itself, to whom nothing can get lost. */
  told(event: WatchEvent): void {
    if (event.kind !== 'reset') this.#events.push(event)
  }

  here(): EventPlace {
    return { events: this.#events, index: this.#events.length }
  }

  isAtEnd({ events, index }: EventPlace, filter: WatchFilter): boolean {
    return events === this.#events && !events.slice(index).some((event) => isMeant(filter, event))
  }

  /** By the link: events that come after this id begin here. */
  began(watcher: string, id: number, place: EventPlace): void {
    const places = this.#places.get(watcher) ?? new Map<number, EventPlace>()
    this.#places.set(watcher, places.set(id, place))
  }

  /** What a watcher must hear from now on; its watch is open. */
  follow(watcher: string, filter: WatchFilter): WatchCheck {
    const places = this.#places.get(watcher) ?? new Map<number, EventPlace>()
    const fail = (message: string): void => {
      this.#problems.add('S19 events', `${watcher} watches ${toLine(filter)} and ${message}`)
    }
    const note = (what: string): void => this.#trace.note(watcher, what)
    return new WatchCheck({ board: this, filter, places, fail, note })
  }
}

interface WatchCheckParts {
  readonly board: WatchBoard
  readonly filter: WatchFilter
  readonly places: ReadonlyMap<number, EventPlace>
  readonly fail: (message: string) => void
  readonly note: (what: string) => void
}

/** One watch, as its reader sees it. */
export class WatchCheck {
  readonly #parts: WatchCheckParts
  #place: EventPlace
  #lastId: number

  constructor(parts: WatchCheckParts) {
    this.#parts = parts
    const [id, place] = [...parts.places].at(-1) ?? [0, parts.board.here()]
    this.#lastId = id
    this.#place = place
  }

  /** Whether everything was heard that there is to hear. */
  get isCaughtUp(): boolean {
    return this.#parts.board.isAtEnd(this.#place, this.#parts.filter)
  }

  hear(event: WatchEvent): void {
    const { places, fail, note } = this.#parts
    note(`hears ${event.kind} ${event.kind === 'reset' ? '' : `${event.key} ${event.owner}`}`)
    if (event.id <= this.#lastId) fail(`heard event ${event.id} after ${this.#lastId}`)
    this.#lastId = event.id
    if (event.kind !== 'reset') return this.#hearChange(event)
    const place = places.get(event.id)
    if (place === undefined) fail('was told reset although nothing was lost')
    else this.#place = place
  }

  #hearChange(event: Change): void {
    const { filter, fail } = this.#parts
    const { events } = this.#place
    let { index } = this.#place
    while (index < events.length && !isMeant(filter, events[index] as Change)) index += 1
    this.#place = { events, index: index + 1 }
    const expected = describe(events[index])
    if (describe(event) !== expected) fail(`heard ${describe(event)} instead of ${expected}`)
  }
}

function isMeant({ prefix = '', namespace }: WatchFilter, event: Change): boolean {
  return event.key.startsWith(prefix) && (namespace ?? event.namespace) === event.namespace
}

/** The id is the link's own. */
function describe(event: Change | undefined): string {
  return event === undefined ? 'nothing' : toLine({ ...event, id: undefined })
}
