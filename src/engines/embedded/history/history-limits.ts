/** The bounds of a history in memory and in a file, each with its reason. */

/** Ends of all keys together; the oldest go first. */
export const HISTORY_ENTRIES_MAX = 100_000

/** Written at once when this much has come: nearly a thousand ends. */
export const HISTORY_WRITE_BYTES: number = 64 * 1024

/** Written after this time however little it is; so much may a crash of the process take. */
export const HISTORY_WRITE_AFTER_MS = 100

/** The file is written anew when it is longer than this and than twice what is still of interest. */
export const HISTORY_REWRITE_MIN_BYTES: number = 1024 * 1024

/** A longer file is not one of ours, or not worth the time that reading it would take. */
export const HISTORY_FILE_MAX_BYTES: number = 512 * 1024 * 1024
