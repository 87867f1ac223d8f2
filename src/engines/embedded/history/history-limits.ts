/** The bounds of the history, each with its reason. */

/** Enough to see how a lock came to where it is; a busy one has this many ends in a second. */
export const HISTORY_PER_KEY_MAX = 100

/** A week covers the question of what happened last weekend. */
export const HISTORY_KEPT_MS: number = 7 * 24 * 60 * 60 * 1000

/** Ends of all keys together; the oldest go first. */
export const HISTORY_ENTRIES_MAX = 100_000

/** What a query shows unless it asks for another number. */
export const HISTORY_SHOWN = 100

/** Written at once when this much has come: nearly a thousand ends. */
export const HISTORY_WRITE_BYTES: number = 64 * 1024

/** Written after this time however little it is; so much may a crash of the process take. */
export const HISTORY_WRITE_AFTER_MS = 100

/** The file is written anew when it is longer than this and than twice what is still of interest. */
export const HISTORY_REWRITE_MIN_BYTES: number = 1024 * 1024

/** A longer file is not one of ours, or not worth the time that reading it would take. */
export const HISTORY_FILE_MAX_BYTES: number = 512 * 1024 * 1024
