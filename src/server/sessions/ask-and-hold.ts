import type { Acquire, Begin } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import type { Exchange } from '../http/exchange.ts'
import type { HeldCall } from './held-call.ts'
import { type AskOptions, nameOf } from './held-requests.ts'

/**
 * Ask the engine, and hold the request open if it waits. A client that sends `Prefer: processing` hears
 * `102` as soon as its request stands in the engine's order: what it sends after that comes after it.
 * Whoever is answered at once needs no such sign.
 */
export function askAndHold(
  exchange: Exchange,
  command: Acquire | Begin,
  isNamed: boolean,
): Outcome | Promise<Outcome> {
  const { context, engine, principal, request, response } = exchange
  const options = { engine, command, scope: principal.name, isNamed }
  const answer = isHeldOpen(command) ? context.held.ask(options) : ask(exchange, options)
  if (!(answer instanceof Promise)) return isNamed ? complete(exchange, options, answer) : answer
  if (!isHeldOpen(command)) return completeLater(exchange, options, answer)
  const call = hold(exchange, options)
  if (request.headers['prefer'] === 'processing') response.writeProcessing()
  return completeLater(exchange, options, call.waitFor(answer))
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

function ask({ context }: Exchange, options: AskOptions): Outcome | Promise<Outcome> {
  const { engine, command, scope } = options
  context.held.touch(command, scope)
  return engine.apply(command)
}

function complete({ context }: Exchange, options: AskOptions, outcome: Outcome): Outcome {
  return context.refusals.complete(`${nameOf(options)}\n${options.command.requestId}`, outcome)
}

async function completeLater(
  exchange: Exchange,
  options: AskOptions,
  answer: Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await answer
  return options.isNamed ? complete(exchange, options, outcome) : outcome
}
