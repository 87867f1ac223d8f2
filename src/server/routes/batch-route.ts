import { isHeldOpen } from '../../engine/waits/waiting-command.ts'
import { writeOutcome } from '../../wire/json/outcome-body.ts'
import { toErrorAnswer } from '../http/error-answer.ts'
import type { Exchange, JsonAnswer } from '../http/exchange.ts'
import { readFields, type Schema } from '../http/fields.ts'
import { badRequest } from '../http/http-error.ts'
import { createRoute, type Route } from '../http/route.ts'
import { bodyOf } from '../openapi/describe-routes.ts'
import { anyOf, list, object, oneOf, ref, WHOLE } from '../openapi/schema-words.ts'
import type { ServerLimits } from '../server-limits.ts'
import type { CommandRoute } from './command-route.ts'
import { WORK_ROUTES } from './contract-routes.ts'
import { LOCK_ROUTES } from './lock-routes.ts'

const ITEMS_MAX = 1_000

/** By the last word of the path that each could have been sent to. */
const COMMANDS: ReadonlyMap<unknown, CommandRoute> = new Map(
  [...LOCK_ROUTES, ...WORK_ROUTES].map((route) => [route.path.slice('/v1/'.length), route]),
)

/** Many commands in one request, none of which waits. Each is answered as if it had been sent alone. */
export const BATCH_ROUTE: Route = createRoute({
  id: 'batch',
  method: 'POST',
  path: '/v1/batch',
  access: 'client',
  summary: `Up to ${ITEMS_MAX} commands that do not wait, in order.`,
  headers: ['Idempotency-Key'],
  bodyLimit: 'batch-body',
  bodySchema,
  answers: { 200: { description: 'The answers in order.', schema: list(answerSchema()) } },
  handle: batch,
})

async function batch(exchange: Exchange): Promise<void> {
  const { body } = exchange
  if (!Array.isArray(body)) throw badRequest('body', 'must be a JSON array')
  if (body.length > ITEMS_MAX) throw badRequest('body', `must have at most ${ITEMS_MAX} items`)
  const { status, body: answers } = await exchange.context.answers.once(exchange, async () => ({
    status: 200,
    // All are given to the engine before the first is answered: it keeps their order on each key.
    body: await Promise.all(body.map((item) => answerItem(exchange, item))),
  }))
  exchange.send(status, answers)
}

async function answerItem({ engine, context }: Exchange, item: unknown): Promise<unknown> {
  const op = typeof item === 'object' && item !== null && 'op' in item ? item.op : undefined
  const route = COMMANDS.get(op)
  let answer: JsonAnswer
  try {
    if (route === undefined) {
      throw badRequest('op', `must be one of ${[...COMMANDS.keys()].join(', ')}`)
    }
    const command = route.toCommand(readFields(route.fields, { ...NOTHING_ELSE, body: item }))
    if (isHeldOpen(command)) {
      throw badRequest('wait_ms', 'must be absent or 0: nothing in a batch waits')
    }
    answer = writeOutcome(command, await engine.apply(command))
  } catch (error) {
    context.failures.report(error)
    answer = toErrorAnswer(error, route?.fields)
  }
  return { status: answer.status, ...(answer.body as Record<string, unknown>) }
}

const NOTHING_ELSE = { parameters: {}, query: new URLSearchParams() } as const

function bodySchema(limits: ServerLimits): Schema {
  const items = [...COMMANDS].map(([op, route]) => {
    const { properties, required, ...rest } = bodyOf(route, limits) as {
      readonly properties: Schema
      readonly required: readonly string[]
    }
    return {
      ...rest,
      properties: { op: oneOf(op as string), ...properties },
      required: ['op', ...required],
    }
  })
  return { ...list({ oneOf: items }), maxItems: ITEMS_MAX }
}

/** What each command could have been answered alone, and the status of that. */
function answerSchema(): Schema {
  const done = [...COMMANDS.values()].map(({ answers }) => answers[200]?.schema as Schema)
  const schemas = new Map(done.map((schema) => [JSON.stringify(schema), schema]))
  return {
    allOf: [object({ status: WHOLE }), anyOf(...schemas.values(), ref('Refused'), ref('Error'))],
  }
}
