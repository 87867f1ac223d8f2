import type { SequentialModel } from '../linearizability.ts'

/** What an owner asked of a mutex, together with the answer it got. */
export type MutexOperation =
  /** Granted. The token is unknown if the answer was lost. */
  | { readonly kind: 'acquire'; readonly owner: string; readonly token?: number | undefined }
  /** Refused because it cannot be had at this moment. */
  | { readonly kind: 'busy'; readonly owner: string }
  | { readonly kind: 'release'; readonly owner: string; readonly token?: number | undefined }
  /** A release or renewal that was refused because the owner does not hold it. */
  | { readonly kind: 'not-holder'; readonly owner: string }
  /** The lease passed. Always optional: its call is the first moment possible, its end is open. */
  | { readonly kind: 'expire'; readonly owner: string }

export interface MutexState {
  readonly owner: string | null
  /** How many times the owner has entered; 0 while the mutex is free. */
  readonly count: number
  /** The token of the present hold; `null` while free, or unknown after a lost answer. */
  readonly token: number | null
  /** The highest token seen so far. */
  readonly floor: number
}

export type MutexModel = SequentialModel<MutexState, MutexOperation>

/** Only the owner can release it, and it cannot enter it twice. */
export const ownerMutex: MutexModel = createMutex({ entriesMax: 1, fenced: false })

/** As `ownerMutex`, and every new hold has a token greater than all before. */
export const fencedMutex: MutexModel = createMutex({ entriesMax: 1, fenced: true })

/** The owner can enter it up to `entriesMax` times, and leaves it as often. */
export function reentrantMutex(entriesMax: number): MutexModel {
  return createMutex({ entriesMax, fenced: false })
}

/** As `reentrantMutex`; a new hold has a greater token, entering again keeps it. */
export function reentrantFencedMutex(entriesMax: number): MutexModel {
  return createMutex({ entriesMax, fenced: true })
}

interface MutexRules {
  readonly entriesMax: number
  readonly fenced: boolean
}

function createMutex(rules: MutexRules): MutexModel {
  return {
    initial: { owner: null, count: 0, token: null, floor: 0 },
    step: (state, operation) => {
      const mine = state.owner === operation.owner
      switch (operation.kind) {
        case 'acquire':
          return state.owner === null || (mine && state.count < rules.entriesMax)
            ? enter(state, operation, rules)
            : null
        case 'busy':
          return state.owner !== null && (!mine || state.count === rules.entriesMax) ? state : null
        case 'release':
          return mine && isSameToken(state, operation.token) ? leave(state, state.count - 1) : null
        case 'not-holder':
          return mine ? null : state
        case 'expire':
          return mine ? leave(state, 0) : null
      }
    },
    observes: ({ kind }) => kind === 'busy' || kind === 'not-holder',
    fingerprint: ({ owner, count, token, floor }) => JSON.stringify([owner, count, token, floor]),
  }
}

function enter(
  state: MutexState,
  { owner, token }: { readonly owner: string; readonly token?: number | undefined },
  rules: MutexRules,
): MutexState | null {
  const count = state.count + 1
  if (!rules.fenced || token === undefined) return { ...state, owner, count }
  const isLegal = state.token === null ? token > state.floor : token === state.token
  return isLegal ? { owner, count, token, floor: token } : null
}

function leave(state: MutexState, count: number): MutexState {
  return count > 0
    ? { ...state, count }
    : { owner: null, count: 0, token: null, floor: state.floor }
}

function isSameToken(state: MutexState, token: number | undefined): boolean {
  return token === undefined || state.token === null || token === state.token
}
