import type { Coordination, LawSettings } from './settings.ts'

/**
 * The words of the law, and the narrow window through which it sees a key.
 *
 * - *key*: names a lock; compared byte by byte. A *resource* names what operations work on. The two
 *   are separate namespaces.
 * - *owner*: who holds or waits. *party*: who is really behind an owner, for seeing deadlocks.
 * - *mode*: `write` is exclusive, `read` is shared.
 * - *hold*: an owner's present claim on a key. *step*: one granted request inside a hold.
 * - *lease*: the moment on the engine's clock after which a hold is void unless renewed.
 * - *token*: fencing token; an integer that only grows for a key.
 * - *waiter*: one request in the key's queue. *lane*: a sub-queue.
 * - *session*: a live connection whose client is known to be there.
 * - *request id*: the caller's name for one logical request, the same on every retry.
 *
 * Instants (`…AtMs`) are on the engine's clock, which need not be the time of day.
 */
export type Namespace = 'lock' | 'operation'

export type Mode = 'read' | 'write'

/** One granted request inside a hold. A release ends the latest step of its mode. */
export interface Step {
  readonly requestId: string
  readonly mode: Mode
  /**
   * `null` once the owner has shown that it knows of the grant: it was granted in the answer to its
   * own request, or it asked, renewed or released since. Otherwise the moment at which the grant is
   * undone; `Infinity` for a waiter that is connected and told over its connection.
   */
  readonly claimByMs: number | null
  /**
   * The token that the hold had before it got its present one with this step: if the request is given up,
   * the hold goes back to the token that its owner knows.
   */
  readonly tokenBefore?: number | undefined
  /** Other request ids that were answered with this step, newest last. They end as it does. */
  readonly joined?: readonly string[] | undefined
}

/** What an operation's hold or waiter knows beyond a lock's. */
export interface OperationFacts {
  readonly type: string
  readonly node: string
  /** What the work makes. Work with a version and work without one are not the same. */
  readonly version: string | undefined
  readonly coordination: Coordination
}

export interface Hold {
  readonly owner: string
  readonly party: string
  readonly session: string | undefined
  readonly reads: number
  readonly writes: number
  readonly token: number
  readonly sinceMs: number
  readonly leaseAtMs: number
  /** The length of the lease when it was last set: what a session renews by, and a restart grants anew. */
  readonly ttlMs: number
  /** Oldest first; as many as `reads + writes`. */
  readonly steps: readonly Step[]
  /** Shown to operators; JSON text. */
  readonly meta: string | undefined
  readonly operation: OperationFacts | undefined
}

export interface Waiter {
  readonly owner: string
  readonly requestId: string
  readonly party: string
  readonly session: string | undefined
  readonly mode: Mode
  /** Index into the configured lanes. */
  readonly lane: number
  /** A holder that waits to pass from reading to writing; it stands ahead of every lane. */
  readonly upgrade: boolean
  /** Whether a request is held open for it, so that it is told of its grant and need not claim it. */
  readonly connected: boolean
  readonly ttlMs: number
  readonly sinceMs: number
  /** When it gives up; `Infinity` for never. */
  readonly deadlineAtMs: number
  /** When the waiter is removed as abandoned, unless its client is heard from before. */
  readonly leaseAtMs: number
  readonly meta: string | undefined
  readonly operation: OperationFacts | undefined
  /** Other request ids that were answered with this place, newest last. They end as it does. */
  readonly joined?: readonly string[] | undefined
}

export interface Session {
  readonly id: string
  /** How long a silent client keeps its places, and the holds of a stream session. */
  readonly graceMs: number
  /** Whether a heartbeat renews every hold for its own ttl. Of a stream session it renews none. */
  readonly keepsLeases: boolean
  /** When something was last received from the client. */
  readonly heardAtMs: number
}

/** How a granted request came to its end. */
export type HoldEnd =
  | 'released'
  | 'expired'
  | 'disconnected'
  | 'forced'
  | 'failed'
  | 'cancelled'
  | 'unclaimed'

/** Request ids are scoped to key, owner and what was asked. */
export type Verb = 'acquire' | 'release'

/** The remembered end of a request: what a late retry is answered. */
export interface Ended {
  readonly verb: Verb
  readonly owner: string
  readonly requestId: string
  readonly mode: Mode | undefined
  readonly atMs: number
  readonly answer: EndedAnswer
}

export type EndedAnswer =
  | { readonly kind: 'hold-ended'; readonly end: HoldEnd }
  | { readonly kind: 'refused'; readonly code: EndedCode; readonly end?: HoldEnd }
  | { readonly kind: 'skip'; readonly value: string | undefined }
  | { readonly kind: 'dissolved'; readonly node: string }
  | { readonly kind: 'released'; readonly reads: number; readonly writes: number }
  | { readonly kind: 'finished'; readonly success: boolean }

/** The refusals that are remembered: those after which the request must never hold. */
export const ENDED_CODES = [
  'held',
  'timeout',
  'cancelled',
  'upgrade_conflict',
  'deadlock',
  'not_holder',
  'abandoned',
  'disconnected',
  'in_use',
] as const

export type EndedCode = (typeof ENDED_CODES)[number]

/** The remembered success of one type of operation on a resource. */
export interface Remembered {
  readonly type: string
  readonly version: string | undefined
  readonly node: string
  readonly value: string | undefined
  readonly atMs: number
  readonly untilMs: number
  /** Kept only so that a late listener can be told of it (`client`); no request skips because of it. */
  readonly replayOnly: boolean
}

/** A node uses the resource, so nothing may be taken away that a pull of it has left. */
export interface Reference {
  readonly node: string
  /**
   * `null` once the node knows that it uses the resource. A node that was told to skip while it waited, and
   * had no open request to be told by, is to ask before this moment; else it loses the reference.
   */
  readonly claimByMs: number | null
}

/** Sees beyond one key, for cycles of parties that wait for each other. */
export interface WaitGraph {
  /** Whether a party waits for any lock. */
  isWaiting(party: string): boolean
  /** Where a party waits for locks, each with the view of that key. */
  waitsOf(party: string): Iterable<{ readonly view: KeyView; readonly waiter: Waiter }>
  /** Whether any waiter on a key has a party that waits on another key as well. */
  isEntangled(view: KeyView): boolean
  /** Those waiters. */
  entangled(view: KeyView): Iterable<Waiter>
}

/**
 * What a decision needs to see of one key, and no more. Every member is cheap: none costs more with
 * ten thousand waiters than with ten, except those that list what the decision then changes or shows.
 * A view does not change while a decision is made from it.
 */
export interface KeyView {
  readonly namespace: Namespace
  readonly key: string
  readonly settings: LawSettings

  /** Every token given on this key so far is at most this. */
  readonly token: number
  readonly holdCount: number
  /** The hold that has a write count, if there is one. */
  readonly writer: Hold | undefined
  hold(owner: string): Hold | undefined
  /** In grant order. */
  holds(): Iterable<Hold>

  /** Waiters of every lane, and upgraders. */
  readonly queueLength: number
  /** Normally none or one; more only when one owner asked to upgrade under several request ids. */
  readonly upgraders: readonly Waiter[]
  head(lane: number): Waiter | undefined
  /** The one behind it in the same lane. */
  next(waiter: Waiter): Waiter | undefined
  /** 1 for the one that is next, counting every waiter that would be served before it. */
  position(waiter: Waiter): number
  /** How many waiters stand in a lane. */
  laneLength(lane: number): number
  waiter(owner: string, requestId: string): Waiter | undefined
  /** In arrival order. */
  waitersOf(owner: string): readonly Waiter[]
  /** Grants in a row that passed this lane while it waited. */
  passes(lane: number): number

  /** False when nothing of this key can be due; the rest of this group is then not looked at. */
  hasDue(nowMs: number): boolean
  /** Holds and waiters that may be due: at least every one that is, in order of their moment. */
  dueHolds(nowMs: number): Iterable<Hold>
  dueWaiters(nowMs: number): Iterable<Waiter>

  session(id: string): Session | undefined
  holdsIn(session: string): Iterable<Hold>
  waitersIn(session: string): Iterable<Waiter>

  ended(verb: Verb, owner: string, requestId: string): Ended | undefined
  /** The latest remembered end of something that was granted to this owner. */
  lastEnd(owner: string): Ended | undefined

  /** Absent where the engine cannot see all keys in one step. */
  readonly graph: WaitGraph | undefined

  readonly referenceCount: number
  reference(node: string): Reference | undefined
  references(): Iterable<Reference>
  /** References that their nodes have not claimed in time: at least every one that is due. */
  dueReferences(nowMs: number): Iterable<Reference>
  remembered(type: string): Remembered | undefined
  everyRemembered(): Iterable<Remembered>
  /** Waiters of one type of operation, in arrival order. */
  waitersOfType(type: string): Iterable<Waiter>
}
