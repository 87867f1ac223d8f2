import type { Command } from '../../law/model/commands.ts'
import type { RefusalCode } from '../../law/model/outcomes.ts'
import { REFUSAL_STATUS } from '../../wire/json/outcome-body.ts'
import type { Asked, FieldTable } from '../http/fields.ts'
import {
  createRoute,
  type DescribedAnswer,
  type NoFields,
  type Route,
  type RouteOptions,
} from '../http/route.ts'
import { oneOf, ref } from '../openapi/schema-words.ts'
import { answerCommand, answerWait } from './answer-command.ts'

/** A route for one command: its fields in, its outcome out. */
export interface CommandRoute extends Route {
  toCommand(asked: Readonly<Record<string, unknown>>): Command
}

interface CommandRouteOptions<
  Path extends FieldTable,
  Query extends FieldTable,
  Body extends FieldTable,
> extends Omit<RouteOptions<Path, Query, Body>, 'method' | 'access' | 'handle'> {
  /** `POST` where it says nothing else. */
  readonly method?: Route['method']
  readonly access?: Route['access']
  /** For which reasons the command is refused. */
  readonly refusals?: readonly RefusalCode[]
  toCommand(asked: Asked<Path> & Asked<Query> & Asked<Body>): Command
}

/** One with a `wait_ms` may wait with its request held open; a client that names it can come back for it. */
export function commandRoute<
  Path extends FieldTable = NoFields,
  Query extends FieldTable = NoFields,
  Body extends FieldTable = NoFields,
>(options: CommandRouteOptions<Path, Query, Body>): CommandRoute {
  const { toCommand, refusals = [], answers, ...rest } = options
  const mayWait = 'waitMs' in (options.body ?? {})
  const route = createRoute<Path, Query, Body>({
    method: 'POST',
    access: 'client',
    ...rest,
    headers: [mayWait ? 'Prefer' : 'Idempotency-Key'],
    answers: { ...answers, ...describeRefusals(refusals) },
    handle: (exchange, asked) => {
      const command = toCommand(asked)
      return command.kind === 'acquire' || command.kind === 'begin'
        ? answerWait(exchange, command, 'requestId' in asked)
        : answerCommand(exchange, command)
    },
  })
  return { ...route, toCommand: toCommand as CommandRoute['toCommand'] }
}

/** Refusals by their statuses, with the codes that each can have. */
function describeRefusals(
  codes: readonly RefusalCode[],
): Readonly<Record<number, DescribedAnswer>> {
  const statuses = new Set(codes.map((code) => REFUSAL_STATUS[code]))
  const answers = [...statuses].map((status) => {
    const own = codes.filter((code) => REFUSAL_STATUS[code] === status)
    const narrowed = { properties: { code: oneOf(...own) } }
    const schema = { allOf: [ref('Refused'), narrowed] }
    return [status, { description: 'Refused; `code` says why.', schema }] as const
  })
  return Object.fromEntries(answers)
}
