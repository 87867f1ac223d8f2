import { randomUUID } from 'node:crypto'
import type { Acquire, Command } from '../../law/commands.ts'
import { readCommand } from '../../protocol/json/command-body.ts'
import { writeOutcome } from '../../protocol/json/outcome-body.ts'
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
export async function answerCommand(exchange: Exchange, command: Command): Promise<void> {
  const { status, body } = await exchange.context.answers.once(exchange, async () =>
    writeOutcome(command, await exchange.engine.apply<Command>(command)),
  )
  exchange.send(status, body)
}

/** The same for one that may wait with its request held open. */
export async function answerWait(exchange: Exchange, kind: 'acquire' | 'begin'): Promise<void> {
  const asked = commandOf<'acquire' | 'begin'>(kind, exchange.body)
  const command = asked.kind === 'acquire' ? withRequestId(asked) : asked
  const outcome = await askAndHold(exchange, command, asked.requestId !== undefined)
  const { status, body } = writeOutcome(command, outcome)
  exchange.send(status, body)
}

/** A detached request is named by its owner and mode: asking again is the same request. */
export function withRequestId(asked: Acquire): Acquire {
  if (asked.requestId !== undefined) return asked
  const { detach, mode = 'write' } = asked
  return { ...asked, requestId: detach === true ? `detached-${mode}` : randomUUID() }
}
