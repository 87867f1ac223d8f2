import type { Acquire, Begin } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { Exchange } from '../http/exchange.ts'

/**
 * Ask the engine, and hold the request open if it waits. A client that sends `Prefer: processing` hears
 * `102` as soon as its request stands in the engine's order: what it sends after that comes after it.
 */
export async function askAndHold(
  exchange: Exchange,
  command: Acquire | Begin,
  isNamed: boolean,
): Promise<Outcome> {
  const { context, engine, principal, request, response } = exchange
  if (!mayWait(command)) {
    context.held.touch(command, principal.name)
    return engine.apply<Acquire | Begin>(command)
  }
  const call = context.held.ask({ engine, command, scope: principal.name, isNamed })
  // Not the request's own 'close', which comes as soon as its body was read.
  response.once('close', () => {
    if (response.writableFinished) call.delivered()
    else call.broken()
  })
  if (exchange.isGone) call.broken()
  if (request.headers['prefer'] === 'processing') response.writeProcessing()
  return call.outcome
}

function mayWait(command: Acquire | Begin): boolean {
  const { waitMs = 0 } = command
  return waitMs > 0 && !(command.kind === 'acquire' && command.detach === true)
}
