import { randomBytes } from 'node:crypto'
import type { Acquire, Command } from '../../law/commands.ts'
import type { Outcome } from '../../law/outcomes.ts'
import { readCommand } from '../../protocol/json/command-body.ts'
import { writeOutcome } from '../../protocol/json/outcome-body.ts'
import { writeOutcomeText } from '../../protocol/json/outcome-text.ts'
import { isToBeRemembered } from '../http/answer-memory.ts'
import type { Exchange } from '../http/exchange.ts'
import { badRequest } from '../http/http-error.ts'
import type { Method, Route } from '../http/route.ts'
import { askAndHold } from '../waiting/ask-and-hold.ts'

/** The command of a body. Throws an `HttpError` that names the field which is missing or wrong. */
export function commandOf<K extends Command['kind']>(
  kind: K,
  body: unknown,
): Extract<Command, { kind: K }> {
  const read = readCommand(kind, body)
  if ('problem' in read) throw badRequest(read.problem.field, read.problem.message)
  return read.command
}

/** A route for a command that does not wait: a body in, an outcome out. */
export function commandRoute(
  kind: Command['kind'],
  path: string,
  { method = 'POST', access = 'client', fill = bodyOf }: CommandRouteOptions = {},
): Route {
  return {
    method,
    path,
    access,
    handle: (exchange) => answerCommand(exchange, commandOf(kind, fill(exchange))),
  }
}

export interface CommandRouteOptions {
  readonly method?: Method
  readonly access?: Route['access']
  /** Where the fields of the command come from, if that is not the body alone. */
  readonly fill?: (exchange: Exchange) => unknown
}

function bodyOf({ body }: Exchange): unknown {
  return body
}

/** Applies a command that does not wait, and answers. */
export function answerCommand(exchange: Exchange, command: Command): Promise<void> | void {
  if (isToBeRemembered(exchange.request)) return answerOnce(exchange, command)
  const outcome = exchange.engine.apply<Command>(command)
  if (outcome instanceof Promise) return sendLater(exchange, command, outcome)
  sendOutcome(exchange, command, outcome)
}

async function answerOnce(exchange: Exchange, command: Command): Promise<void> {
  const { status, body } = await exchange.context.answers.once(exchange, async () =>
    writeOutcome(command, await exchange.engine.apply<Command>(command)),
  )
  exchange.send(status, body)
}

/** The same for one that may wait with its request held open. */
export function answerWait(exchange: Exchange, kind: 'acquire' | 'begin'): Promise<void> | void {
  const given = commandOf<'acquire' | 'begin'>(kind, exchange.body)
  const isNamed = given.requestId !== undefined
  const command = given.kind === 'acquire' ? withRequestId(given) : given
  const outcome = askAndHold(exchange, command, isNamed)
  if (outcome instanceof Promise) return sendLater(exchange, command, outcome)
  sendOutcome(exchange, command, outcome)
}

async function sendLater(
  exchange: Exchange,
  command: Command,
  answer: Promise<Outcome>,
): Promise<void> {
  sendOutcome(exchange, command, await answer)
}

function sendOutcome(exchange: Exchange, command: Command, outcome: Outcome): void {
  const { status, text } = writeOutcomeText(command, outcome)
  exchange.sendJson(status, text)
}

/** Names of requests that clients did not name: no other life of any server has the same. */
const LIFE = randomBytes(12).toString('base64url')
let unnamed = 0

/**
 * A detached request is named by its owner and mode: asking again is the same request. What was just
 * read from a body is nobody else's yet, so it gets its name in place: a copy would cost more than it.
 */
export function withRequestId(asked: Mutable<Acquire>): Acquire {
  if (asked.requestId !== undefined) return asked
  const { detach, mode = 'write' } = asked
  if (detach === true) asked.requestId = `detached-${mode}`
  else {
    unnamed += 1
    asked.requestId = `${LIFE}-${unnamed}`
  }
  return asked
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }
