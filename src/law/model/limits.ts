/**
 * The bounds that the law itself keeps, each with its unit in its name and its reason beside it. How large
 * a name, a lease or a value may be is checked before the law sees a command: `engine/validation/limits.ts`.
 */

/** Types are the verbs of an application; a resource to which more was done is a fault upstream. */
export const TYPES_PER_RESOURCE_MAX = 64

/** Re-entry deeper than this is a recursion that forgot to release. */
export const STEPS_PER_HOLD_MAX = 64

/** How long the end of a request is remembered, so that a late retry learns of it. */
export const ENDED_REMEMBERED_MS = 60_000

/** How many ends are remembered for one key, newest kept. */
export const ENDED_PER_KEY_MAX = 64

/** Request ids that joined one operation's standing and are kept with it, newest kept. */
export const JOINED_PER_STANDING_MAX = 16

/** Grants in a row that may pass a waiting lower lane before it is that lane's turn. */
export const LANE_PASSES_MAX = 8

/** A refusal names the present holders, but not ten thousand readers. */
export const HOLDERS_SHOWN_MAX = 32

/** Steps of the search for a cycle; a graph larger than this is left to the wait's deadline. */
export const CYCLE_SEARCH_STEPS_MAX = 20_000
