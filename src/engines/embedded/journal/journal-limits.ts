/** The bounds of the journal, each with its reason. */

/**
 * The largest record or snapshot chunk, in bytes. One decision is one record, and ten thousand readers
 * with the longest names that are moved up at once make one of about 20 MiB: this is far beyond
 * what the limits of the law allow, and within the four bytes that a length has on disk.
 */
export const MAX_RECORD_BYTES: number = 1024 * 1024 * 1024

/**
 * A batch that has grown to this many bytes takes no further record; the next one starts another
 * batch. It keeps a single write short.
 */
export const BATCH_FULL_BYTES: number = 4 * 1024 * 1024

/** A snapshot is written in pieces of about this many bytes, so that appends go on in between. */
export const SNAPSHOT_PIECE_BYTES: number = 64 * 1024

/**
 * A snapshot is synced each time it has grown by this many bytes. One sync of a large file at the
 * end would hold up the small ones that appends wait for.
 */
export const SNAPSHOT_SYNC_BYTES: number = 4 * 1024 * 1024

/**
 * How far a log is filled with zeros ahead of its end. Overwriting allocated blocks spares the disk
 * the update of the file's size and block map, which makes a sync cheaper by half.
 */
export const PREALLOCATE_BYTES: number = 1024 * 1024

/**
 * A log shorter than this is not compacted, whatever the size of the snapshot. Reading so much when it is
 * opened takes about a second; under load, more snapshots of a small table would cost more than that.
 */
export const COMPACT_MIN_BYTES: number = 16 * 1024 * 1024

/**
 * How many tokens may be given out before the mark must be written anew, which costs three syncs. A server that
 * gives 30,000 tokens of one shard a second writes it once a second; after a crash so many are left out at most.
 */
export const NUMBERS_PER_MARK: number = 65_536

/**
 * How many tokens a repair leaves out where no mark says how far they went: more than were ever given out behind
 * what can be read, which would take four months at 100,000 a second.
 */
export const NUMBERS_WHERE_MARK_IS_LOST: number = 2 ** 40

/** Recovery reads files through a window of this many bytes, larger only for a larger batch. */
export const READ_WINDOW_BYTES: number = 1024 * 1024

/** A frame buffer is kept for the next batch unless it has grown beyond this. */
export const POOLED_BUFFER_BYTES: number = 1024 * 1024
