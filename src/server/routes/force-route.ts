import type { Force } from '../../law/commands.ts'
import type { Exchange } from '../http/exchange.ts'
import { queryNamespace, queryText } from '../http/query-reader.ts'
import type { Route } from '../http/route.ts'
import { answerCommand } from './answer-command.ts'

/** An operator ends holds: one owner's, or everybody's. */
export const FORCE_ROUTES: readonly Route[] = [
  { method: 'DELETE', path: '/v1/locks/{key}', access: 'admin', handle: force },
]

async function force(exchange: Exchange): Promise<void> {
  const command: Force = {
    kind: 'force',
    key: exchange.parameters['key'] ?? '',
    owner: queryText(exchange, 'owner'),
    namespace: queryNamespace(exchange),
  }
  await answerCommand(exchange, command)
}
