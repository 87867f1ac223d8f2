/**
 * What the calls of operations answer: `/lock`, `/unlock`, `/lock/subscribe`, `/lock/status`, `/refs` and
 * `/unref`. Clients that are older than this project read these bodies, so no member is renamed, and none
 * that they look at is ever left out. Members are spelled as they are on the wire.
 */

/** The answer to `/lock`, with 200 and 403. */
export interface LockAnswer {
  readonly acquired: boolean
  readonly skip: boolean
  /** Waiting; `position` 1 is next. */
  readonly queued?: boolean
  readonly position?: number
  /** The queue was dissolved by a success: look for yourself, and ask again if you must. */
  readonly dissolved?: boolean
  readonly token?: number
  readonly lease_ms?: number
  /** With `skip`: what the operation left, `null` if nothing. */
  readonly value?: unknown
  readonly code?: string
  readonly nodes?: readonly string[]
  readonly message: string
  /** Empty where nothing is wrong. */
  readonly error: string
}

/** The answer to `/unlock`, with 200 and 403. */
export interface UnlockAnswer {
  readonly released: boolean
  readonly code?: string
  readonly message: string
}

/** One event of `/lock/subscribe`. */
export interface OperationEventBody {
  readonly type: string
  readonly resource_id: string
  /** Who did it, or to whom the lock was given. */
  readonly node_id: string
  readonly success: boolean
  /** Empty with a success, and with a grant. */
  readonly error: string
  readonly completed_at: string
  readonly granted?: true
  readonly token?: number
  /** Events were missed: the state has to be asked for anew. */
  readonly reset?: true
}

/** How a resource stands. Members that say nothing while it is free are `null`. */
export interface ResourceStatus {
  readonly held: boolean
  readonly holder: string | null
  /** What the holder does. */
  readonly type: string | null
  readonly token: number | null
  readonly since: string | null
  readonly completed: boolean
  readonly success: boolean
  /** The first hundred. */
  readonly queue: readonly {
    readonly node_id: string
    readonly type: string
    readonly position: number
  }[]
  readonly refs: { readonly count: number; readonly nodes: readonly string[] }
}

/** The same from one node's point of view, which `completed` and `success` then mean. */
export interface NodeStatus extends ResourceStatus {
  readonly acquired: boolean
}

export interface ReferencesAnswer {
  readonly resource_id: string
  readonly count: number
  readonly nodes: readonly string[]
}

/** `removed` is a number where all references of a node were dropped. */
export interface UnrefAnswer {
  readonly removed: boolean | number
  readonly count?: number
}
