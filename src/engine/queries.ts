import type { EventKind } from '../law/model/events.ts'
import type { RefusalCode } from '../law/model/outcomes.ts'
import type { Mode, Namespace } from '../law/model/view.ts'

/** What can be read from an engine. */

/** One key: who holds it, who waits. A free key is an answer with empty lists. */
export interface InspectQuery {
  readonly kind: 'inspect'
  readonly key: string
  /** `lock` when absent. */
  readonly namespace?: Namespace | undefined
  /** How much of the queue to show; 100 when absent. `queueLength` is always the whole. */
  readonly queueLimit?: number | undefined
}

/** Keys that are held or waited for, in byte order; locks before the operation of the same name. */
export interface ListQuery {
  readonly kind: 'list'
  readonly prefix?: string | undefined
  readonly owner?: string | undefined
  readonly namespace?: Namespace | undefined
  /** At most 1,000; 100 when absent. */
  readonly limit?: number | undefined
  /** From the reply before; opaque. */
  readonly cursor?: string | undefined
}

/** Where one owner stands on one key. */
export interface StandingQuery {
  readonly kind: 'standing'
  readonly key: string
  readonly owner: string
  readonly namespace?: Namespace | undefined
}

/** Who references a resource. */
export interface ReferencesQuery {
  readonly kind: 'references'
  readonly resource: string
}

/**
 * How much there is of everything: for metrics, and for showing that nothing is left behind. An engine in
 * this process answers from counters, so it may be asked often, with any number of keys.
 */
export interface StatsQuery {
  readonly kind: 'stats'
}

/**
 * The last holds that ended, newest first. Kept for people, not for decisions: 100 ends of a key, for
 * seven days, bounded in all, and a crash may take the latest. Operations count too: their key is the
 * resource and their owner is `type:node`. An engine without a place for it answers with an empty list.
 */
export interface HistoryQuery {
  readonly kind: 'history'
  /** Of this key or resource only. */
  readonly key?: string | undefined
  /** Locks or operations only; both when absent. */
  readonly namespace?: Namespace | undefined
  /** At most 1,000; 100 when absent. */
  readonly limit?: number | undefined
}

export type Query =
  | InspectQuery
  | ListQuery
  | StandingQuery
  | ReferencesQuery
  | StatsQuery
  | HistoryQuery

/** Ages and remaining times are milliseconds on the engine's clock at the moment of reading. */
export interface HolderReply {
  readonly owner: string
  readonly mode: Mode
  readonly reads: number
  readonly writes: number
  readonly token: number
  readonly heldMs: number
  readonly leaseMs: number
  readonly session?: string | undefined
  readonly meta?: string | undefined
  readonly type?: string | undefined
  readonly node?: string | undefined
  readonly version?: string | undefined
}

export interface WaiterReply {
  readonly owner: string
  readonly requestId: string
  readonly mode: Mode
  readonly position: number
  readonly waitedMs: number
  readonly upgrade: boolean
  readonly lane?: string | undefined
  readonly session?: string | undefined
  readonly type?: string | undefined
  readonly node?: string | undefined
  readonly version?: string | undefined
}

export interface RememberedReply {
  readonly type: string
  readonly version?: string | undefined
  readonly node: string
  readonly value?: string | undefined
  readonly agoMs: number
  /** False where it is kept for late listeners only (`coordination: client`). */
  readonly skips: boolean
}

export interface InspectReply {
  readonly namespace: Namespace
  readonly key: string
  /** The highest token of its holders; `null` for a key that is free. */
  readonly token: number | null
  readonly holders: readonly HolderReply[]
  readonly queue: readonly WaiterReply[]
  readonly queueLength: number
  readonly references: readonly string[]
  readonly remembered: readonly RememberedReply[]
}

export interface ListReply {
  readonly locks: readonly InspectReply[]
  readonly cursor: string | null
}

export interface StandingReply {
  readonly holder: HolderReply | null
  readonly waiting: readonly WaiterReply[]
}

export interface ReferencesReply {
  readonly resource: string
  /** Every node that uses the resource. */
  readonly nodes: readonly string[]
  /**
   * Those of them that were told to skip while they waited, and have not been heard of since: they lose their
   * references if they do not ask in time.
   */
  readonly unclaimed: readonly string[]
}

export interface StatsReply {
  /** Keys that cost memory or a row of their own. */
  readonly keys: number
  readonly holds: number
  readonly waiters: number
  readonly sessions: number
  readonly references: number
  /** Ends of requests that are kept, so that a late retry is told of them. */
  readonly ended: number
  /** Absent for an engine that shares its store or is asked over a network: it knows a part of them only. */
  readonly events?: EventCounts | undefined
  /** Where the engine keeps a journal of its own. */
  readonly journal?: JournalStats | undefined
  /**
   * Where the engine is that of a server which shares it with others: a text for an operator for each of
   * those that are alive and decide by other settings than this one.
   */
  readonly differences?: readonly string[] | undefined
}

/** The events of locks and of operations since the engine was opened, whether or not anything watched. */
export type EventCounts = Readonly<Record<Namespace, EventCount>>

export interface EventCount extends Readonly<Record<EventKind, number>> {
  /** The `refused` ones by their code; a code that did not occur is absent. */
  readonly refusals: Readonly<Partial<Record<RefusalCode, number>>>
}

/** Counted since the engine was opened. */
export interface JournalStats {
  /** Batches that were written and synced. */
  readonly syncs: number
  /** Bytes that they had. */
  readonly bytes: number
  /**
   * How often the journal could not be made shorter. Nothing is lost by that, but the directory grows
   * until it succeeds.
   */
  readonly compactionFailures: number
  /** What the last such failure said; absent when there was none. */
  readonly lastCompactionError?: string | undefined
  /** Why changes are refused for now, where the disk is full; absent otherwise. */
  readonly full?: string | undefined
}

/** How a hold in the history ended. A grant that was undone before anyone took it is not in there. */
export type HistoryEnd = 'released' | 'expired' | 'disconnected' | 'forced' | 'failed'

/** One hold, from its grant to its end. `fromMs` and `toMs` are times of day. */
export interface HistoryEntry {
  readonly namespace: Namespace
  readonly key: string
  readonly owner: string
  /** What it was when it ended. */
  readonly mode: Mode
  readonly token: number
  /** A hold that began before a restart of the engine may be shown as if it began with that. */
  readonly fromMs: number
  readonly toMs: number
  /** `failed`: an operation said so itself. */
  readonly end: HistoryEnd
}

export interface HistoryReply {
  readonly ends: readonly HistoryEntry[]
}

interface Replies {
  readonly inspect: InspectReply
  readonly list: ListReply
  readonly standing: StandingReply
  readonly references: ReferencesReply
  readonly stats: StatsReply
  readonly history: HistoryReply
}

export type ReplyOf<Q extends Query> = Replies[Q['kind']]
