import type { SequentialModel } from '../linearizability.ts'

/** What happened to the references of one resource, together with the answer. */
export type ReferenceOperation =
  /** A pull succeeded or was skipped: the node uses the resource. It may not know of it yet. */
  | { readonly kind: 'add'; readonly node: string; readonly isUnclaimed?: boolean }
  /** A node that did not know of its reference has lost it. Always optional, with an open end. */
  | { readonly kind: 'lapse'; readonly node: string }
  | { readonly kind: 'drop'; readonly node: string }
  /** A delete was granted to an owner; nothing may refer to the resource now. */
  | { readonly kind: 'delete-begin'; readonly owner: string }
  /** Only a delete that succeeded clears the references; a failed one leaves them. */
  | { readonly kind: 'delete-end'; readonly owner: string; readonly success: boolean }
  /** The lease of a delete passed. Always optional, with an open end. */
  | { readonly kind: 'delete-expire'; readonly owner: string }
  /** Refused because the resource is referred to, by these nodes if the answer named them. */
  | { readonly kind: 'in-use'; readonly nodes?: readonly string[] | undefined }
  | { readonly kind: 'read'; readonly nodes: readonly string[] }

export interface ReferenceState {
  /** Sorted, each node once. */
  readonly nodes: readonly string[]
  /** Those of them that do not know of it. */
  readonly unclaimed: readonly string[]
  readonly deletedBy: string | null
}

/** The set of nodes that refer to one resource, with deletion. */
export const referenceSet: SequentialModel<ReferenceState, ReferenceOperation> = {
  initial: { nodes: [], unclaimed: [], deletedBy: null },
  step: (state, operation) => {
    switch (operation.kind) {
      case 'add':
        return state.deletedBy === null ? add(state, operation) : null
      case 'lapse':
        return state.unclaimed.includes(operation.node) ? drop(state, operation.node) : null
      case 'drop':
        return drop(state, operation.node)
      case 'delete-begin':
        return state.nodes.length === 0 && state.deletedBy === null
          ? { ...state, deletedBy: operation.owner }
          : null
      case 'delete-end':
        if (state.deletedBy !== operation.owner) return null
        return operation.success ? referenceSet.initial : { ...state, deletedBy: null }
      case 'delete-expire':
        return state.deletedBy === operation.owner ? { ...state, deletedBy: null } : null
      case 'in-use':
        return state.nodes.length > 0 && isSameSet(state, operation.nodes) ? state : null
      case 'read':
        return isSameSet(state, operation.nodes) ? state : null
    }
  },
  observes: ({ kind }) => kind === 'in-use' || kind === 'read',
  fingerprint: ({ nodes, unclaimed, deletedBy }) => JSON.stringify([nodes, unclaimed, deletedBy]),
}

function add(
  state: ReferenceState,
  { node, isUnclaimed = false }: Extract<ReferenceOperation, { kind: 'add' }>,
): ReferenceState {
  const { nodes, unclaimed } = drop(state, node)
  const wasClaimed = state.nodes.includes(node) && !state.unclaimed.includes(node)
  return {
    ...state,
    nodes: [...nodes, node].sort(),
    unclaimed: isUnclaimed && !wasClaimed ? [...unclaimed, node].sort() : unclaimed,
  }
}

function drop(state: ReferenceState, node: string): ReferenceState {
  const isOther = (other: string): boolean => other !== node
  return {
    ...state,
    nodes: state.nodes.filter(isOther),
    unclaimed: state.unclaimed.filter(isOther),
  }
}

// A list with a node in it twice is longer than the set and therefore not the same.
function isSameSet(state: ReferenceState, seen: readonly string[] | undefined): boolean {
  if (seen === undefined) return true
  return seen.length === state.nodes.length && state.nodes.every((node) => seen.includes(node))
}
