import type { Command } from '../../law/commands.ts'
import { isHeldOpen } from '../../law/waiting.ts'
import { writeOutcome } from '../../protocol/json/outcome-body.ts'
import { toErrorAnswer } from '../http/error-answer.ts'
import type { Exchange, JsonAnswer } from '../http/exchange.ts'
import { badRequest } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'
import { commandOf, withRequestId } from './answer-command.ts'

const ITEMS_MAX = 1_000

type BatchCommand = Extract<
  Command,
  { kind: 'acquire' | 'release' | 'renew' | 'cancel' | 'begin' | 'finish' | 'withdraw' | 'unref' }
>

const OPS: ReadonlySet<unknown> = new Set<BatchCommand['kind']>([
  'acquire',
  'release',
  'renew',
  'cancel',
  'begin',
  'finish',
  'withdraw',
  'unref',
])

/** Many commands in one request, none of which waits. Each is answered as if it had been sent alone. */
export const BATCH_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/batch', access: 'client', body: 'batch-body', handle: batch },
]

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
  let answer: JsonAnswer
  try {
    const command = toCommand(item)
    answer = writeOutcome(command, await engine.apply<Command>(command))
  } catch (error) {
    context.failures.report(error)
    answer = toErrorAnswer(error)
  }
  return { status: answer.status, ...(answer.body as Record<string, unknown>) }
}

function toCommand(item: unknown): BatchCommand {
  const op = typeof item === 'object' && item !== null && 'op' in item ? item.op : undefined
  if (!OPS.has(op)) throw badRequest('op', `must be one of ${[...OPS].join(', ')}`)
  const command = commandOf(op as BatchCommand['kind'], item)
  // A plain truth value: one that does not wait is an acquire all the same.
  const waits: boolean = isHeldOpen(command)
  if (waits) {
    throw badRequest('wait_ms', 'must be absent or 0: nothing in a batch waits')
  }
  return command.kind === 'acquire' ? withRequestId(command) : command
}
