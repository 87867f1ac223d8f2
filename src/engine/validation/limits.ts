/**
 * What a command may contain and a setting may be, each bound with its unit in its name and its reason
 * beside it. Nothing of a key that a caller can make grow is without one; the server bounds how many keys,
 * sessions and calls there are. `law/limits.ts` has the bounds that the law keeps as it decides.
 */

/** A key is a name, not a document; etcd and SQL indexes are comfortable with this. */
export const KEY_BYTES_MAX = 512

/** An owner is a node, process or task name; long enough for a UUID with a host name. */
export const OWNER_BYTES_MAX = 256

/** Request ids, session ids, parties and versions are machine-made names of the same size. */
export const ID_BYTES_MAX = 256

/** An operation's type is one word; it becomes part of an owner and of a metric's label. */
export const TYPE_CHARS_MAX = 64

/** Below this a lease ends before a busy client can renew it. */
export const TTL_MS_MIN = 100

/** Above this a lost holder would block others for days; also far below the timer limit of 2^31. */
export const TTL_MS_MAX: number = 24 * 60 * 60 * 1000

/** What a holder gets that asks for nothing else. */
export const TTL_MS_DEFAULT = 30_000

/** A finite wait is bounded so that a forgotten waiter ends; `Infinity` means until it is cancelled. */
export const WAIT_MS_MAX: number = 24 * 60 * 60 * 1000

/** More waiters on one key than this is a fault upstream, better refused than stored. */
export const WAITERS_PER_KEY_MAX = 10_000

/** Readers that hold one key at once; as many as may wait for it, for the same reason. */
export const HOLDERS_PER_KEY_MAX = 10_000

/** Nodes that use one resource; each is a name that is kept until it is dropped. */
export const REFERENCES_PER_RESOURCE_MAX = 10_000

/** Lanes are a short, ordered list that a person configures. */
export const LANES_MAX = 16

/** The value an operation leaves for those who skip is a hint, not a payload. */
export const VALUE_BYTES_MAX: number = 8 * 1024

/** An operation's error text is for people; longer ones are refused. */
export const ERROR_BYTES_MAX: number = 4 * 1024

/** What a holder says about itself to operators. */
export const META_BYTES_MAX = 1024

/** A session silent for less than this cannot be told from a busy one; for longer, it blocks. */
export const GRACE_MS_MIN = 100
export const GRACE_MS_MAX: number = 10 * 60 * 1000
