import type { Exchange } from './exchange.ts'
import { type Asked, type Field, type FieldTable, listFields, type Schema } from './fields.ts'
import type { ServerLimits } from '../server-limits.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * Who may call a route: any caller, any principal, or an operator. Which keys a principal may touch is
 * decided by its engine, not here.
 */
export type Access = 'open' | 'client' | 'admin'

/** Headers with a meaning of their own, apart from those that every request may have. */
export type RequestHeader = 'Idempotency-Key' | 'Prefer' | 'Last-Event-ID'

/** What a route answers under one status. */
export interface DescribedAnswer {
  readonly description: string
  /** Of its JSON; absent where there is no body, and where it is of another type. */
  readonly schema?: Schema | undefined
  /** The type of an answer that is no JSON. */
  readonly mediaType?: string | undefined
  /** Of the data of each event, where the answer is a stream of them. */
  readonly events?: Schema | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** One method on one path: who may call it, what it reads, what it answers. */
export interface Route {
  readonly method: Method
  /** As in `/v1/locks/{key}`: a name in braces takes one percent-encoded segment. */
  readonly path: string
  readonly access: Access
  /** Its name in clients that are made from the description. */
  readonly id: string
  readonly summary: string
  readonly fields: readonly Field[]
  readonly headers: readonly RequestHeader[]
  /** Its own answers; those that every route has are added where it is described. */
  readonly answers: Readonly<Record<number, DescribedAnswer>>
  /** Its answer does not end by itself, so there is no use in asking for the head of it alone. */
  readonly isStream: boolean
  /** How much of a body is read, where the usual limit is not the right one. */
  readonly bodyLimit?: 'batch-body' | undefined
  /** Of a body that is no object with fields. */
  readonly bodySchema?: ((limits: ServerLimits) => Schema) | undefined
  /** Answers through the exchange. What it throws is answered as an error. */
  handle(exchange: Exchange, asked: Readonly<Record<string, unknown>>): Promise<void> | void
}

export type NoFields = Readonly<Record<never, never>>

/** A route as its file writes it down. */
export interface RouteOptions<
  Path extends FieldTable,
  Query extends FieldTable,
  Body extends FieldTable,
> extends Omit<Route, 'fields' | 'headers' | 'isStream' | 'handle'> {
  readonly parameters?: Path
  readonly query?: Query
  readonly body?: Body
  readonly headers?: readonly RequestHeader[]
  readonly isStream?: true
  handle(exchange: Exchange, asked: Asked<Path> & Asked<Query> & Asked<Body>): Promise<void> | void
}

/** A route whose handler is given the fields that its tables name. */
export function createRoute<
  Path extends FieldTable = NoFields,
  Query extends FieldTable = NoFields,
  Body extends FieldTable = NoFields,
>(options: RouteOptions<Path, Query, Body>): Route {
  const { parameters, query, body, handle, ...rest } = options
  return {
    headers: [],
    isStream: false,
    ...rest,
    fields: [
      ...listFields(parameters ?? {}, 'path'),
      ...listFields(query ?? {}, 'query'),
      ...listFields(body ?? {}, 'body'),
    ],
    handle: (exchange, asked) => handle(exchange, asked as Parameters<typeof handle>[1]),
  }
}
