/**
 * The contract of a key store: the part of a lock engine that SQL, Redis and etcd each do in their own way.
 *
 * A store keeps *keys* and changes them by compare-and-swap: a change names the version that it was made from, and is
 * applied as a whole or refused with the present state. The store decides nothing about locks. It does not look into
 * heads, parts, labels, events and history; the engine above it makes them, and asks the law.
 *
 * A `KeyStore` is one process's connection to a store that several processes share. `src/testing/key-store-suite/`
 * has a test for every promise made here except durability, for which a store has to be killed. `load` and `commit` are
 * to take one round trip each.
 *
 * Names, groups, ids, labels and texts are well-formed Unicode without NUL. All orders are by UTF-8 bytes, and names
 * that differ in a byte are different. Instants (`…AtMs`, `nowMs`) are whole milliseconds on the store's clock.
 */
export interface KeyStore {
  /** What this process is called in turns and notices. No two connections at a time have the same name. */
  readonly process: string
  readonly facts: StoreFacts

  /**
   * Read keys. Each is as it was at one moment between the call and the answer, after every commit that was answered
   * before the call; two keys may be from different moments.
   */
  load(asked: readonly AskedKey[]): Promise<LoadedKeys>

  /**
   * Change one key or several, each of them once. Every change is applied as a whole or not at all, and has a result
   * of its own: one that is refused does not hold up the rest. A change that was committed is durable, and is in every
   * `load`, `due`, `list`, `find` and `count` that begins after the answer.
   *
   * Rejects with a `LockError`. After `applied: 'no'` nothing was changed. After `'maybe'` each of the changes may have
   * been applied, or may yet be. A late one finds another version and is refused. Only a late creation may find its key
   * absent again, and only within its window: so no key is to be removed in the `COMMIT_WINDOW_MS` after it was made.
   */
  commit(changes: readonly KeyChange[], options: CommitOptions): Promise<CommittedKeys>

  /** All keys whose due moment has come, up to the limit, soonest first. A key stays until that moment is changed. */
  due(limit: number): Promise<DueKeys>

  /** Names of present keys in one space, in order. Pages together have every name once that was there throughout. */
  list(query: ListedNames): Promise<readonly string[]>

  /** Keys that carry a label, ordered by space, then name, in pages as `list`. */
  find(query: LabelledKeys): Promise<readonly KeyName[]>

  /**
   * Be told of commits that named this process in `notify`, those of one key in their order. Called once; resolves
   * when later commits will be told. A notice is a hint: it may come late, and if the store knows that some may be lost
   * the listener is told `undefined`. Never called where `facts.pushes` is false. The listener must not throw.
   */
  listen(on: (notice: Notice | undefined) => void): Promise<void>

  /**
   * Be told the events of every later commit of any process, those of one key in their order. Resolves when that holds,
   * with the function that ends it. `undefined` says that some may be lost. The listener must not throw.
   */
  watch(on: (events: readonly string[] | undefined) => void): Promise<() => Promise<void>>

  /** How many keys are present, and the sums of what they count. */
  count(): Promise<StoreCounts>

  /** The latest history first. It outlives its key; `engine/history-rules.ts` says how much is kept. */
  history(query: KeptHistory): Promise<readonly string[]>

  /** Remove what is too old to matter. To be called now and then, by any process, and never needed for an answer. */
  tidy(): Promise<void>

  /** End the connection: later calls are refused with `LOCK_ENGINE_CLOSED`, listeners are not called. Idempotent. */
  close(): Promise<void>
}

/** What differs between stores. Does not change while the store is open. */
export interface StoreFacts {
  /** Notices arrive by themselves; otherwise `load` with `known` versions is the only way to hear of a change. */
  readonly pushes: boolean
  /** A change may depend on other keys (`unchanged`); otherwise the list must be empty. */
  readonly checksOthers: boolean
  /** History is kept; otherwise it is dropped, and there is none. */
  readonly keepsHistory: boolean
  /** How many parts one change may put and remove together. */
  readonly partChangesMax: number
}

export type Space = 'lock' | 'operation' | 'process' | 'session'

export interface KeyName {
  readonly space: Space
  readonly name: string
}

/** Opaque. `''`: the key is absent. A key never has any other version twice, not even after it was removed or lost. */
export type Version = string

/** A piece of a key that is read and written by itself. Group and id together name it. */
export interface Part {
  readonly group: string
  readonly id: string
  readonly body: string
}

/** Parts of one group: those with these ids, or a range of ids in order, or only how many are in a range. */
export type Want =
  | { readonly kind: 'ids'; readonly group: string; readonly ids: readonly string[] }
  | ({ readonly kind: 'range'; readonly limit: number } & PartRange)
  | ({ readonly kind: 'count' } & PartRange)

/** Without a bound: from the first, or to the last. Neither bound is in the range. */
export interface PartRange {
  readonly group: string
  readonly after?: string | undefined
  readonly before?: string | undefined
}

export interface AskedKey {
  readonly name: KeyName
  /** If the key still has this version, only what is wanted is loaded. */
  readonly known?: Version | undefined
  readonly wants?: readonly Want[] | undefined
}

/**
 * A key as it is, all of one version. A key with at most `WHOLE_PARTS_MAX` parts comes with all of them; of a larger
 * one, or of one that was `known`, only what was wanted.
 */
export interface LoadedKey {
  readonly name: KeyName
  readonly version: Version
  /** `null` if the key is absent, or has the version that was known. */
  readonly head: string | null
  /** Each once, by group, then id. */
  readonly parts: readonly Part[]
  /** Whether all parts are there. */
  readonly whole: boolean
  /** The answers to the wants of kind `count`, in their order. */
  readonly counted: readonly number[]
}

export interface LoadedKeys {
  readonly nowMs: number
  /** As asked, in that order. */
  readonly keys: readonly LoadedKey[]
}

export type KeyChange = KeyCheck | KeyWrite | KeyRemoval

interface AnyChange {
  readonly name: KeyName
  /** The version that the change was made from. */
  readonly expected: Version
  /** Other keys that the change was made from, which are to have these versions at the moment of the commit. */
  readonly unchanged?: readonly { readonly name: KeyName; readonly version: Version }[] | undefined
  /** What to load of a large key if the change is refused. */
  readonly wants?: readonly Want[] | undefined
  /** Told to every watcher, and not kept. */
  readonly events?: readonly string[] | undefined
}

/** Nothing changes, and neither does the version: the key is as it was, and was so at this moment. */
export interface KeyCheck extends AnyChange {
  readonly kind: 'check'
}

/** The key gets a new version. What is left out stays as it is; an absent key has nothing. */
export interface KeyWrite extends AnyChange {
  readonly kind: 'write'
  readonly head: string
  /** Each replaces the part of its name, if there is one. No part is both put and removed. */
  readonly puts?: readonly Part[] | undefined
  readonly removes?: readonly Pick<Part, 'group' | 'id'>[] | undefined
  /** When `due` is to say this key. `null`: never. */
  readonly dueAtMs?: number | null | undefined
  /** `true` puts a label on the key, `false` takes it off. */
  readonly labels?: ReadonlyMap<string, boolean> | undefined
  /** What the key counts from now on, in place of what it counted. */
  readonly counts?: KeyCounts | undefined
  /** Processes that are told of the new head. */
  readonly notify?: readonly string[] | undefined
  /** Added to the history of the key, oldest first. */
  readonly history?: readonly string[] | undefined
}

/** The key is absent afterwards: parts, labels, counts, due moment and turn are gone. Its history stays. */
export interface KeyRemoval extends AnyChange {
  readonly kind: 'remove'
  readonly notify?: readonly string[] | undefined
  readonly history?: readonly string[] | undefined
}

export interface CommitOptions {
  /** The moment that the changes were decided for. Refused unless store time is in `[atMs, atMs + COMMIT_WINDOW_MS)`. */
  readonly atMs: number
  /**
   * A present key on which there is a conflict is reserved for this process: until it has written or removed the key,
   * or for `TURN_MS_MAX`, other processes can do neither. So a slow process is not overtaken for ever. A check needs no turn.
   */
  readonly turn?: boolean | undefined
}

/**
 * Refusals, the first that applies, each with the present state so that no load is needed:
 * - `lost`: the store has lost commits, by fail-over or restore, that this process may have seen. Said once for each
 *   loss to each process, to its next commit; what it knew of any key may be untrue.
 * - `clock`: store time is outside the window.
 * - `other-turn`: another process has the turn.
 * - `conflict`: the key has another version, or one of `unchanged` has; those are in `moved`.
 */
export type CommitResult =
  | { readonly kind: 'committed'; readonly version: Version }
  | { readonly kind: 'conflict'; readonly key: LoadedKey; readonly moved: readonly LoadedKey[] }
  | { readonly kind: 'lost' | 'clock' | 'other-turn'; readonly key: LoadedKey }

export interface CommittedKeys {
  readonly nowMs: number
  /** Of the changes, in their order. */
  readonly results: readonly CommitResult[]
}

export interface DueKeys {
  readonly nowMs: number
  readonly names: readonly KeyName[]
  /** No other key is due before this. `null`: none ever is. */
  readonly nextAtMs: number | null
}

export interface ListedNames {
  readonly space: Space
  readonly prefix: string
  /** The last name of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

export interface LabelledKeys {
  readonly label: string
  /** The last key of the page before. */
  readonly after?: KeyName | undefined
  readonly limit: number
}

/** What was committed, told after it can be loaded. `head` is `null` if the key was removed. */
export interface Notice {
  readonly name: KeyName
  readonly version: Version
  readonly head: string | null
}

/** How much of everything there is in one key. */
export interface KeyCounts {
  readonly holds: number
  readonly waiters: number
  readonly references: number
  readonly ended: number
}

export interface StoreCounts extends KeyCounts {
  readonly keys: Readonly<Record<Space, number>>
}

export interface KeptHistory {
  /** Of this name only, in every space or in one. */
  readonly name?: string | undefined
  readonly space?: Space | undefined
  readonly limit: number
}
