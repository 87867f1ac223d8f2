import type { Acquire, Begin } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import type { Exchange } from '../http/exchange.ts'
import { type AskOptions, nameOf } from './held-requests.ts'

/**
 * Ask the engine, and hold the request open if it waits. A client that sends `Prefer: processing` hears
 * `102` as soon as its request stands in the engine's order: what it sends after that comes after it.
 */
export async function askAndHold(
  exchange: Exchange,
  command: Acquire | Begin,
  isNamed: boolean,
): Promise<Outcome> {
  const { context, engine, principal } = exchange
  const asked = { engine, command, scope: principal.name, isNamed }
  const outcome = await (mayWait(command) ? hold(exchange, asked) : ask(exchange, asked))
  if (!isNamed) return outcome
  return context.refusals.complete(`${nameOf(asked)}\n${command.requestId}`, outcome)
}

function ask({ context }: Exchange, { engine, command, scope }: AskOptions): Promise<Outcome> {
  context.held.touch(command, scope)
  return engine.apply<Acquire | Begin>(command)
}

function hold(
  { context, request, response, isGone }: Exchange,
  asked: AskOptions,
): Promise<Outcome> {
  const call = context.held.ask(asked)
  // Not the request's own 'close', which comes as soon as its body was read.
  response.once('close', () => {
    if (response.writableFinished) call.delivered()
    else call.broken()
  })
  if (isGone) call.broken()
  if (request.headers['prefer'] === 'processing') response.writeProcessing()
  return call.outcome
}

function mayWait(command: Acquire | Begin): boolean {
  const { waitMs = 0 } = command
  return waitMs > 0 && !(command.kind === 'acquire' && command.detach === true)
}
