import type { Force } from '../../law/commands.ts'
import { writeOutcome } from '../../protocol/json/outcome-body.ts'
import type { Exchange } from '../http/exchange.ts'
import { queryNamespace, queryText } from '../http/query-reader.ts'
import type { Route } from '../http/route.ts'

/** An operator ends holds: one owner's, or everybody's. */
export const FORCE_ROUTES: readonly Route[] = [
  { method: 'DELETE', path: '/v1/locks/{key}', access: 'admin', handle: force },
]

async function force(exchange: Exchange): Promise<void> {
  const { context, engine, principal, request } = exchange
  const command: Force = {
    kind: 'force',
    key: exchange.parameters['key'] ?? '',
    owner: queryText(exchange, 'owner'),
    namespace: queryNamespace(exchange),
  }
  const { status, body } = await context.answers.once(exchange, async () => {
    const outcome = await engine.apply(command)
    if (outcome.kind === 'forced') {
      const { key, owner, namespace: kind = 'lock' } = command
      const address = request.socket.remoteAddress
      const { count } = outcome
      context.audit({
        action: 'force',
        principal: principal.name,
        address,
        kind,
        key,
        owner,
        count,
      })
    }
    return writeOutcome(command, outcome)
  })
  exchange.send(status, body)
}
