import type { Query } from '../../../engine/queries.ts'
import type { Acquire, Begin, Command } from '../../../law/model/commands.ts'

/** What a client asks of an engine. */
export type LinkRequest =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'query'; readonly query: Query }

/** What comes back: a value, or an error that was thrown. */
export type LinkResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }

/** The same for every call of one logical request that may wait. */
export function requestNameOf(command: Acquire | Begin): string {
  if (command.kind === 'acquire') {
    return `lock ${command.key} ${command.owner} ${command.requestId}`
  }
  const { resource, type, node, requestId = `${type}:${node}` } = command
  return `operation ${resource} ${type}:${node} ${requestId}`
}

/**
 * Whether it makes no difference which of two copies is answered: the request has a name of its own, or
 * names what it is about so exactly that it cannot be taken for a later one.
 */
export function isRepeatable(request: LinkRequest): boolean {
  if (request.kind === 'query') return true
  const { command } = request
  switch (command.kind) {
    case 'acquire':
      return true
    case 'begin':
    case 'finish':
      return command.requestId !== undefined
    case 'release':
      // Without an id only the library sends it, for the last step of a hold whose owner is its own.
      return command.requestId !== undefined || command.token !== undefined
    case 'renew':
      return command.token !== undefined
    default:
      return false
  }
}
