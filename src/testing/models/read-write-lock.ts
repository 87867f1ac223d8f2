import type { SequentialModel } from '../linearizability.ts'

/**
 * What an owner asked of a read-write lock, together with the answer it got. Counts and tokens
 * that the answer did not show are left out and then not compared.
 */
export type ReadWriteOperation =
  | {
      readonly kind: 'acquire'
      readonly owner: string
      readonly mode: LockMode
      readonly token?: number | undefined
      readonly reads?: number | undefined
      readonly writes?: number | undefined
      /**
       * A smaller token that another operation of the history got for certain. Tokens are an order
       * of the grants, so that one must have come before; saying so keeps a search short.
       */
      readonly after?: number | undefined
    }
  /** Refused or queued because somebody else stands in the way. */
  | { readonly kind: 'blocked'; readonly owner: string; readonly mode: LockMode }
  /** Refused because another reader already waits to become the writer. */
  | { readonly kind: 'upgrade-conflict'; readonly owner: string }
  | {
      readonly kind: 'release'
      readonly owner: string
      readonly mode?: LockMode | undefined
      readonly token?: number | undefined
    }
  | { readonly kind: 'renew'; readonly owner: string; readonly token?: number | undefined }
  /** A release or renewal that was refused: no hold, or none in that mode. */
  | { readonly kind: 'not-holder'; readonly owner: string; readonly mode?: LockMode | undefined }
  | { readonly kind: 'stale-token'; readonly owner: string; readonly token: number }
  /** An operator ended the hold of one owner, or of all. */
  | { readonly kind: 'force'; readonly owner?: string | undefined }
  /**
   * The hold ended by itself: its lease passed, or its session ended. Always optional: its call is
   * the first moment at which it can happen, its end is open. With a token, it ends that hold only.
   */
  | { readonly kind: 'expire'; readonly owner: string; readonly token?: number | undefined }
  /**
   * A step that was granted to an owner who had given it up is taken back. Always optional, like the end of
   * a hold. Of an upgrade nobody was told, so the hold has the token from before.
   */
  | { readonly kind: 'undo'; readonly owner: string; readonly mode: LockMode }
  | { readonly kind: 'read'; readonly holders: readonly SeenHolder[] }

export type LockMode = 'read' | 'write'

export interface SeenHolder {
  readonly owner: string
  readonly reads?: number | undefined
  readonly writes?: number | undefined
  readonly token?: number | undefined
}

interface ModelHold {
  readonly owner: string
  readonly reads: number
  readonly writes: number
  /** `null` after a lost answer, until a later answer shows it. */
  readonly token: number | null
  /** While the token is unknown: it is greater than this. */
  readonly above: number
}

export interface ReadWriteState {
  /** Sorted by owner. */
  readonly holds: readonly ModelHold[]
  /** The highest token seen so far. */
  readonly floor: number
}

/**
 * A fenced, re-entrant read-write lock with upgrade and downgrade. Who waits is not part of it:
 * order in the queue has a check of its own.
 */
export const readWriteLock: SequentialModel<ReadWriteState, ReadWriteOperation> = {
  initial: { holds: [], floor: 0 },
  step: (state, operation) => {
    switch (operation.kind) {
      case 'acquire':
        return acquire(state, operation)
      case 'blocked':
        return mayBeTurnedAway(state, operation) ? state : null
      case 'upgrade-conflict': {
        const hold = findHold(state, operation.owner)
        const isReader = hold !== undefined && hold.writes === 0
        return isReader && state.holds.length > 1 ? state : null
      }
      case 'release':
        return release(state, operation)
      case 'renew': {
        const hold = findHold(state, operation.owner)
        return hold !== undefined && mayHaveToken(hold, operation.token) ? state : null
      }
      case 'not-holder':
        return holdsMode(findHold(state, operation.owner), operation.mode) ? null : state
      case 'stale-token': {
        const hold = findHold(state, operation.owner)
        return hold !== undefined && hold.token !== operation.token ? state : null
      }
      case 'force':
        return withoutHolds(state, ({ owner }) => operation.owner ?? owner)
      case 'expire':
        return expire(state, operation)
      case 'undo':
        return undo(state, operation)
      case 'read':
        return isSeen(state, operation.holders) ? state : null
    }
  },
  observes: ({ kind }) => OBSERVATIONS.has(kind),
  fingerprint: ({ holds, floor }) =>
    JSON.stringify([floor, holds.map((hold) => Object.values(hold))]),
}

const OBSERVATIONS = new Set<ReadWriteOperation['kind']>([
  'blocked',
  'upgrade-conflict',
  'renew',
  'not-holder',
  'stale-token',
  'read',
])

type Acquire = Extract<ReadWriteOperation, { kind: 'acquire' }>

function acquire(state: ReadWriteState, operation: Acquire): ReadWriteState | null {
  const before = findHold(state, operation.owner)
  if (!isCompatible(state, operation)) return null
  const keepsToken = before !== undefined && isReentry(state, operation)
  const token = keepsToken ? before.token : null
  const above = keepsToken ? before.above : state.floor
  const isAfter = keepsToken || (operation.after ?? 0) <= state.floor
  if (!isAfter || !isPossible(operation.token, token, above)) return null
  const hold: ModelHold = {
    owner: operation.owner,
    reads: (before?.reads ?? 0) + Number(operation.mode === 'read'),
    writes: (before?.writes ?? 0) + Number(operation.mode === 'write'),
    ...toKnown(operation.token ?? token, above),
  }
  return isSeenAs(hold, operation) ? withHold(state, hold) : null
}

// Equal states must look equal, so what a known token makes irrelevant is left out.
function toKnown(token: number | null, above: number): Pick<ModelHold, 'token' | 'above'> {
  return { token, above: token === null ? above : 0 }
}

function isPossible(told: number | undefined, token: number | null, above: number): boolean {
  return told === undefined || (token === null ? told > above : told === token)
}

function release(
  state: ReadWriteState,
  operation: Extract<ReadWriteOperation, { kind: 'release' }>,
): ReadWriteState | null {
  const hold = findHold(state, operation.owner)
  if (hold === undefined || !holdsMode(hold, operation.mode)) return null
  if (!mayHaveToken(hold, operation.token)) return null
  return withoutStep(state, hold, operation.mode ?? (hold.writes > 0 ? 'write' : 'read'))
}

function withoutStep(state: ReadWriteState, hold: ModelHold, mode: LockMode): ReadWriteState {
  const reads = hold.reads - Number(mode === 'read')
  const writes = hold.writes - Number(mode === 'write')
  if (reads + writes > 0) return withHold(state, { ...hold, reads, writes })
  return withoutHolds(state, () => hold.owner)
}

function undo(
  state: ReadWriteState,
  { owner, mode }: Extract<ReadWriteOperation, { kind: 'undo' }>,
): ReadWriteState | null {
  const hold = findHold(state, owner)
  if (hold === undefined || !holdsMode(hold, mode)) return null
  const isUpgrade = mode === 'write' && hold.writes === 1 && hold.reads > 0
  return withoutStep(state, isUpgrade ? { ...hold, token: null, above: 0 } : hold, mode)
}

function expire(
  state: ReadWriteState,
  operation: Extract<ReadWriteOperation, { kind: 'expire' }>,
): ReadWriteState | null {
  const hold = findHold(state, operation.owner)
  if (hold === undefined || !mayHaveToken(hold, operation.token)) return null
  return withoutHolds(state, () => operation.owner)
}

interface Wish {
  readonly owner: string
  readonly mode: LockMode
}

function isCompatible(state: ReadWriteState, wish: Wish): boolean {
  if (isReentry(state, wish)) return true
  return state.holds.every((hold) => {
    return hold.owner === wish.owner || (wish.mode === 'read' && hold.writes === 0)
  })
}

// A reader may be turned away by readers, because nobody passes a queued writer. But somebody else
// must hold the lock: a queue in front of a free lock does not exist.
function mayBeTurnedAway(state: ReadWriteState, wish: Wish): boolean {
  return !isReentry(state, wish) && state.holds.some((hold) => hold.owner !== wish.owner)
}

function isReentry(state: ReadWriteState, { owner, mode }: Wish): boolean {
  const hold = findHold(state, owner)
  return hold !== undefined && (hold.writes > 0 || mode === 'read')
}

function findHold(state: ReadWriteState, owner: string): ModelHold | undefined {
  return state.holds.find((hold) => hold.owner === owner)
}

function holdsMode(hold: ModelHold | undefined, mode: LockMode | undefined): boolean {
  if (hold === undefined) return false
  return mode === undefined || (mode === 'write' ? hold.writes : hold.reads) > 0
}

function mayHaveToken(hold: ModelHold, token: number | undefined): boolean {
  return isPossible(token, hold.token, hold.above)
}

function withHold(state: ReadWriteState, hold: ModelHold): ReadWriteState {
  const others = state.holds.filter(({ owner }) => owner !== hold.owner)
  const holds = [...others, hold].sort((a, b) => (a.owner < b.owner ? -1 : 1))
  return { holds, floor: Math.max(state.floor, hold.token ?? 0) }
}

function withoutHolds(
  state: ReadWriteState,
  ownerToEnd: (hold: ModelHold) => string,
): ReadWriteState {
  return { ...state, holds: state.holds.filter((hold) => hold.owner !== ownerToEnd(hold)) }
}

function isSeen(state: ReadWriteState, seen: readonly SeenHolder[]): boolean {
  return (
    seen.length === state.holds.length &&
    seen.every((holder) => {
      const hold = findHold(state, holder.owner)
      return hold !== undefined && isSeenAs(hold, holder)
    })
  )
}

function isSeenAs(hold: ModelHold, seen: Omit<SeenHolder, 'owner'>): boolean {
  return (
    (seen.reads ?? hold.reads) === hold.reads &&
    (seen.writes ?? hold.writes) === hold.writes &&
    mayHaveToken(hold, seen.token)
  )
}
