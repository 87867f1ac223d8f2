import type { Exchange } from './exchange.ts'
import { badRequest } from './http-error.ts'

/** What follows the question mark, by name and type. Empty is the same as absent. */
export function queryText({ query }: Exchange, name: string): string | undefined {
  const text = query.get(name)
  return text === null || text === '' ? undefined : text
}

export function neededQueryText(exchange: Exchange, name: string): string {
  const text = queryText(exchange, name)
  if (text === undefined) throw badRequest(name, 'is required')
  return text
}

export function queryNumber(exchange: Exchange, name: string): number | undefined {
  const text = queryText(exchange, name)
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw badRequest(name, 'must be a whole number')
  return Number(text)
}

/** `kind` says whether a lock or an operation is meant. */
export function queryNamespace(exchange: Exchange): 'lock' | 'operation' | undefined {
  const text = queryText(exchange, 'kind')
  if (text === undefined || text === 'lock' || text === 'operation') return text
  throw badRequest('kind', 'must be lock or operation')
}
