import type { Exchange } from './exchange.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Who may call a route: anybody, any principal, or an operator. Which keys a principal may touch is
 * decided by its engine, not here.
 */
export type Access = 'open' | 'client' | 'admin'

/** One method on one path. */
export interface Route {
  readonly method: Method
  /** As in `/v1/locks/{key}`: a name in braces takes one percent-encoded segment. */
  readonly path: string
  readonly access: Access
  /** Its answer does not end by itself, so there is no use in asking for the head of it alone. */
  readonly isStream?: true | undefined
  /** How much of a body is read, where the usual limit is not the right one. */
  readonly body?: 'batch-body' | undefined
  /** Answers through the exchange. What it throws is answered as an error. */
  handle(exchange: Exchange): Promise<void> | void
}
