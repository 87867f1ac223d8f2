import type { Acquire, Begin } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import type { Exchange } from '../http/exchange.ts'
import type { HeldCall } from './held-call.ts'
import type { AskOptions } from './held-requests.ts'

/**
 * Ask the engine, and hold the request open if it waits. A client that sends `Prefer: processing` hears
 * `102` as soon as its request stands in the engine's order: what it sends after that comes after it. A
 * request that is answered at once needs no such sign.
 */
export function askAndHold(
  exchange: Exchange,
  command: Acquire | Begin,
  isNamed: boolean,
): Outcome | Promise<Outcome> {
  const { context, engine, principal, request, response } = exchange
  const options = { engine, command, scope: principal.name, isNamed }
  if (!isHeldOpen(command)) {
    context.held.touch(command, principal.name)
    return engine.apply(command)
  }
  const answer = context.held.ask(options)
  if (!(answer instanceof Promise)) return answer
  const call = hold(exchange, options)
  if (request.headers['prefer'] === 'processing') response.writeProcessing()
  return call.waitFor(answer)
}

function hold(exchange: Exchange, options: AskOptions): HeldCall {
  const { context, request, response } = exchange
  const { socket } = request
  const call = context.held.hold(options)
  const onClose = (): void => {
    socket.off('close', onClose)
    if (response.writableFinished) call.delivered()
    else call.broken()
  }
  // Not the request's own 'close', which comes as soon as its body was read.
  response.once('close', onClose)
  // An answer that stands behind another one on its connection does not hear of its end.
  if (response.socket === null) socket.once('close', onClose)
  if (exchange.isGone) call.broken()
  return call
}
