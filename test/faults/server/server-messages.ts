/** What a test tells the processes that put load on its server, and what it hears from them. */

export interface LoadOptions {
  readonly url: string
  /** Of every client's name, so that those of several processes differ. */
  readonly name: string
  readonly seed: string
  /** Clients that each have a session of their own. */
  readonly sessions: number
  /** How long at most a client rests between two turns. */
  readonly restMsMax: number
  readonly waitMs: number
  /** How long a hold lasts that nothing renews. */
  readonly ttlMs: number
  /** Where the history goes when everything is over. */
  readonly historyPath: string
}

export type LoadOrder =
  /** Use other keys from now on. */
  | { readonly kind: 'generation'; readonly generation: number }
  /** The last fault is over: end what was begun, show that everyone is served, and leave. */
  | { readonly kind: 'heal' }

export type LoadNews =
  | { readonly kind: 'opened' }
  /** How many calls went well up to now, and when the latest one of them began. */
  | { readonly kind: 'answered'; readonly count: number; readonly latestCallMs: number }
  | { readonly kind: 'done'; readonly report: LoadReport }

export interface LoadReport {
  /** Clients that were served once more after the last fault. */
  readonly served: number
  /** Calls that gave up on the server, by what they asked and what they know of it. */
  readonly unavailable: Readonly<Record<string, number>>
  /** Holds that their owner was told it lost. */
  readonly losses: number
  /** What must not happen in any weather. */
  readonly problems: readonly string[]
}
