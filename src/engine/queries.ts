import type { Mode, Namespace } from '../law/view.ts'

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

/** How much there is of everything: for metrics, and for showing that nothing is left behind. */
export interface StatsQuery {
  readonly kind: 'stats'
}

export type Query = InspectQuery | ListQuery | StandingQuery | ReferencesQuery | StatsQuery

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
  /** The highest token given on this key as far as is known; never lower than any that was. */
  readonly token: number
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
  readonly nodes: readonly string[]
}

export interface StatsReply {
  /** Keys that cost memory or a row of their own. */
  readonly keys: number
  readonly holds: number
  readonly waiters: number
  readonly sessions: number
  readonly references: number
  /** Ends of requests that are still remembered. */
  readonly ended: number
}

interface Replies {
  readonly inspect: InspectReply
  readonly list: ListReply
  readonly standing: StandingReply
  readonly references: ReferencesReply
  readonly stats: StatsReply
}

export type ReplyOf<Q extends Query> = Replies[Q['kind']]
