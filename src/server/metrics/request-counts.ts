import type { Route } from '../http/route.ts'
import type { Counter, Series } from './registry.ts'

/** The status of a request whose client did not wait for one is `gone`. */
export type CountedStatus = number | 'gone'

/** Answered requests by route and status. Nothing in them can be chosen by a client. */
export class RequestCounts {
  readonly #counter: Counter
  readonly #routes = new Map<Route | undefined, Map<CountedStatus, Series>>()

  constructor(counter: Counter) {
    this.#counter = counter
  }

  /** `undefined` for a path that nobody knows, or a method that it does not have. */
  add(route: Route | undefined, status: CountedStatus): void {
    const series = this.#routes.get(route)?.get(status) ?? this.#begin(route, status)
    series.value += 1
  }

  #begin(route: Route | undefined, status: CountedStatus): Series {
    const label = route === undefined ? 'none' : `${route.method} ${route.path}`
    const series = this.#counter.of(label, String(status))
    const known = this.#routes.get(route)
    if (known === undefined) this.#routes.set(route, new Map([[status, series]]))
    else known.set(status, series)
    return series
  }
}
