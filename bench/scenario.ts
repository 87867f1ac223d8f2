/**
 * What the bench is made of. A scenario has cases, which are measured one after the other, and
 * contestants, which are measured side by side. Each contestant lives in a process of its own, so that
 * heaps and inline caches do not mix, and the contestants of a case take turns, round by round, so that
 * whatever else the machine does falls on all of them alike.
 */
export interface Scenario {
  readonly name: string
  /** What is measured, in a sentence or two for the reader of the table. */
  readonly title: string
  readonly figure: Figure
  readonly cases: readonly string[]
  readonly contestants: Readonly<Record<string, () => Promise<Contestant>>>
  readonly comparisons: readonly Comparison[]
  /** The contestants that run our build, and so can be compared with an older one. */
  readonly ours: readonly string[]
  /** Contestants who would take too long for a case, by case. */
  readonly leftOut?: Readonly<Record<string, readonly string[]>>
  /** For a figure that does not depend on how fast the machine is just now. */
  readonly measuredOnce?: boolean
}

/** The main figure of a scenario; more is better for a rate, less for a size. */
export type Figure =
  | { readonly kind: 'rate'; readonly operation: string }
  | { readonly kind: 'size'; readonly operation: string }

export interface Contestant {
  /** One round of a case. It may last longer than `durationMs`, which says when to stop. */
  measure(caseName: string, durationMs: number): Promise<Sample>
  close(): Promise<void>
}

/** What one contestant did in one round. */
export interface Sample {
  readonly operations: number
  readonly wallMs: number
  /** Of all threads of the process. */
  readonly cpuMs: number
  /** Further figures of the whole round, such as overtakes. */
  readonly counts: Readonly<Record<string, number>>
}

/** The figure of one contestant, or its ratio to that of another, and what it is meant to be. */
export interface Comparison {
  readonly caseName: string
  readonly contestant: string
  readonly against?: string
  /** One of the counts instead of the main figure. */
  readonly count?: string
  readonly atLeast?: number
  readonly atMost?: number
}

/** How much is measured. */
export interface Dose {
  readonly name: 'full' | 'quick'
  readonly rounds: number
  readonly roundMs: number
  readonly warmUpMs: number
  readonly fewHeld: number
  readonly manyHeld: number
  readonly fewWaiters: number
  readonly manyWaiters: number
  /** Those who want one key once each, over the network; some of those who poll are slow. */
  readonly drainedWaiters: number
}

/** `quick` shows that everything works; its numbers mean little. */
export const DOSES: Readonly<Record<Dose['name'], Dose>> = {
  full: {
    name: 'full',
    rounds: 5,
    roundMs: 1_000,
    // A process that does a few thousand things in a second runs code that was not compiled yet.
    warmUpMs: 5_000,
    fewHeld: 1_000,
    manyHeld: 1_000_000,
    fewWaiters: 10,
    manyWaiters: 10_000,
    drainedWaiters: 256,
  },
  quick: {
    name: 'quick',
    rounds: 2,
    roundMs: 25,
    warmUpMs: 20,
    fewHeld: 100,
    manyHeld: 5_000,
    fewWaiters: 10,
    manyWaiters: 200,
    drainedWaiters: 16,
  },
}
