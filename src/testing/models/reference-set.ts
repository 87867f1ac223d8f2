import type { SequentialModel } from '../linearizability.ts'

/** What happened to the references of one resource, together with the answer. */
export type ReferenceOperation =
  /** A pull succeeded or was skipped: the node uses the resource. */
  | { readonly kind: 'add'; readonly node: string }
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
  readonly deletedBy: string | null
}

/** The set of nodes that refer to one resource, with deletion. */
export const referenceSet: SequentialModel<ReferenceState, ReferenceOperation> = {
  initial: { nodes: [], deletedBy: null },
  step: (state, operation) => {
    switch (operation.kind) {
      case 'add':
        return state.deletedBy === null ? { ...state, nodes: add(state.nodes, operation) } : null
      case 'drop':
        return { ...state, nodes: state.nodes.filter((node) => node !== operation.node) }
      case 'delete-begin':
        return state.nodes.length === 0 && state.deletedBy === null
          ? { nodes: [], deletedBy: operation.owner }
          : null
      case 'delete-end':
        if (state.deletedBy !== operation.owner) return null
        return { nodes: operation.success ? [] : state.nodes, deletedBy: null }
      case 'delete-expire':
        return state.deletedBy === operation.owner ? { ...state, deletedBy: null } : null
      case 'in-use':
        return state.nodes.length > 0 && isSameSet(state, operation.nodes) ? state : null
      case 'read':
        return isSameSet(state, operation.nodes) ? state : null
    }
  },
  observes: ({ kind }) => kind === 'in-use' || kind === 'read',
  fingerprint: ({ nodes, deletedBy }) => JSON.stringify([nodes, deletedBy]),
}

function add(nodes: readonly string[], { node }: { readonly node: string }): readonly string[] {
  return nodes.includes(node) ? nodes : [...nodes, node].sort()
}

// A list with a node in it twice is longer than the set and therefore not the same.
function isSameSet(state: ReferenceState, seen: readonly string[] | undefined): boolean {
  if (seen === undefined) return true
  return seen.length === state.nodes.length && state.nodes.every((node) => seen.includes(node))
}
