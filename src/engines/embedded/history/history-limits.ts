/** The bounds of a history in memory and in a file, each with its reason. */

/** Ends of all keys together; the oldest go first. With names of 30 bytes they take about 25 MB. */
export const HISTORY_ENTRIES_MAX = 100_000

/** Ends in one line of the file: a line is made in about a third of a millisecond. */
export const HISTORY_LINE_ENTRIES = 500

/** The file is written this long after an end; so much of the history may a crash take. */
export const HISTORY_WRITE_AFTER_MS = 1_000

/** The file rests so long for each end that was written, which takes less than a hundredth of that. */
export const HISTORY_REST_MS_PER_ENTRY = 0.1

/** The file is written anew when more ends than this wait for it, or when it has so many and half are not kept. */
export const HISTORY_REWRITE_ENTRIES = 10_000
