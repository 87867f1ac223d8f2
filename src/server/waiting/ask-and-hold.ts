import type { Outcome } from '../../law/outcomes.ts'
import type { Exchange } from '../http/exchange.ts'
import type { HeldCall } from './held-call.ts'
import { type AskOptions, nameOf } from './held-requests.ts'
import type { Acquire, Begin } from '../../law/commands.ts'
import { applyDirectly } from '../../engine/apply-directly.ts'

/** What a client asks for, and whether it gave the request an id. */
export interface Asked {
  readonly command: Acquire | Begin
  readonly isNamed: boolean
}

/**
 * Ask the engine, and hold the request open if it waits. A client that sends `Prefer: processing` hears
 * `102` as soon as its request stands in the engine's order: what it sends after that comes after it.
 * Whoever is answered at once needs no such sign.
 *
 * An answer that comes without a promise is to be sent and then given to `seeItLeave`.
 */
export function askAndHold(exchange: Exchange, asked: Asked): Outcome | Promise<Outcome> {
  const { context, engine, principal, request, response } = exchange
  const { command, isNamed } = asked
  const options = { engine, command, scope: principal.name, isNamed }
  const answer = mayWait(command) ? context.held.ask(options) : ask(exchange, options)
  if (!(answer instanceof Promise)) return isNamed ? complete(exchange, options, answer) : answer
  if (!mayWait(command)) return completeLater(exchange, options, answer)
  const call = hold(exchange, options)
  if (request.headers['prefer'] === 'processing') response.writeProcessing()
  return completeLater(exchange, options, call.waitFor(answer))
}

/** A grant that was given at once, to one who was ready to wait, is undone if it does not reach them. */
export function seeItLeave(exchange: Exchange, { command, isNamed }: Asked, outcome: Outcome): void {
  if (outcome.kind !== 'granted' || !mayWait(command) || hasLeft(exchange)) return
  const { engine, principal } = exchange
  hold(exchange, { engine, command, scope: principal.name, isNamed })
}

function hold(exchange: Exchange, options: AskOptions): HeldCall {
  const { context, response } = exchange
  const call = context.held.hold(options)
  // Not the request's own 'close', which comes as soon as its body was read.
  response.once('close', () => {
    if (response.writableFinished) call.delivered()
    else call.broken()
  })
  if (exchange.isGone) call.broken()
  return call
}

/** The operating system has taken it, as far as that can be known at once. */
function hasLeft({ response }: Exchange): boolean {
  const { socket } = response
  if (!response.writableEnded || socket === null) return false
  return !socket.destroyed && socket.errored === null && socket.writableLength === 0
}

function ask({ context }: Exchange, options: AskOptions): Outcome | Promise<Outcome> {
  const { engine, command, scope } = options
  context.held.touch(command, scope)
  return applyDirectly(engine, command)
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

function mayWait(command: Acquire | Begin): boolean {
  const { waitMs = 0 } = command
  return waitMs > 0 && !(command.kind === 'acquire' && command.detach === true)
}
