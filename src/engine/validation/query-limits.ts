/** How much a query is answered with, on every engine. */

/** The most that anybody gets in one reply. */
export const QUERY_LIMIT_MAX = 1_000

/** Waiters of each key, unless the query asks for another number. */
export const QUEUE_SHOWN = 100

/** Keys in a page of a list, unless the query asks for another number. */
export const LIST_SHOWN = 100

/** Ends of a history, unless the query asks for another number. */
export const HISTORY_SHOWN = 100
