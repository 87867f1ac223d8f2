import { randomBytes } from 'node:crypto'
import type { Acquire, Begin, Command } from '../../law/model/commands.ts'
import { NO_SESSION } from '../../law/sessions.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import { writeOutcome } from '../../wire/json/outcome-body.ts'
import { writeOutcomeText } from '../../wire/json/outcome-text.ts'
import { isToBeRemembered } from '../http/idempotency-cache.ts'
import type { Exchange } from '../http/exchange.ts'

/** Applies a command that does not wait, and answers. */
export function answerCommand(exchange: Exchange, command: Command): Promise<void> | void {
  const { context, view } = exchange
  if (context.socketSessions.isForAnother(command, view)) {
    return sendOutcome(exchange, command, NO_SESSION)
  }
  if (isToBeRemembered(exchange.request)) return answerOnce(exchange, command)
  return answerWith(exchange, command, exchange.engine.apply<Command>(command))
}

async function answerOnce(exchange: Exchange, command: Command): Promise<void> {
  const { status, body } = await exchange.context.answers.once(exchange, async () =>
    writeOutcome(command, await exchange.engine.apply<Command>(command)),
  )
  exchange.send(status, body)
}

/** The same for one that may wait with its request held open. */
export function answerWait(
  exchange: Exchange,
  command: Acquire | Begin,
  isNamed: boolean,
): Promise<void> | void {
  return answerWith(exchange, command, exchange.context.held.ask(exchange, command, isNamed))
}

function answerWith(
  exchange: Exchange,
  command: Command,
  outcome: Outcome | Promise<Outcome>,
): Promise<void> | void {
  if (outcome instanceof Promise)
    return outcome.then((late) => sendOutcome(exchange, command, late))
  sendOutcome(exchange, command, outcome)
}

function sendOutcome(exchange: Exchange, command: Command, outcome: Outcome): void {
  const { status, text } = writeOutcomeText(command, outcome)
  exchange.sendJson(status, text)
}

/** Names of requests that clients did not name: no other life of any server has the same. */
const LIFE = randomBytes(12).toString('base64url')
let unnamed = 0

/** A detached request is named by its owner and mode: asking again is the same request. */
export function nameRequest({ detach, mode = 'write' }: Pick<Acquire, 'detach' | 'mode'>): string {
  if (detach === true) return `detached-${mode}`
  unnamed += 1
  return `${LIFE}-${unnamed}`
}
