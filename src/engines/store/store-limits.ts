/** The numbers that every key store and every user of one agree on, each with its reason. */

/** A key with at most this many parts is always loaded whole: it is read in one piece and cached for the next decision. */
export const WHOLE_PARTS_MAX = 160

/** How long a turn may last. A process that died in its turn delays other processes by no more than this. */
export const TURN_MS_MAX = 100

/** How long after the moment it was decided for a change may be committed. */
export const COMMIT_WINDOW_MS = 1_000
