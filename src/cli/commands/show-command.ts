import type { HolderReply, InspectReply, WaiterReply } from '../../engine/queries.ts'
import { QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import { writeReply } from '../../wire/json/reply-body.ts'
import { escapeControls } from '../../server/observe/escape-controls.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, withLocks } from '../connection-options.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { lookAtKey, OPERATION_TOO } from '../look-at-key.ts'
import { choosePaint } from '../output/paint.ts'
import { printJson } from '../output/print-json.ts'
import { showDuration, showTime } from '../output/show-duration.ts'
import { type Column, printTable } from '../output/table.ts'
import {
  expectWords,
  parseChoice,
  parseCommandArgs,
  parseWholeNumber,
} from '../parse-command-args.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  kind: { type: 'string' },
  queue: { type: 'string', default: '20' },
} as const

export const showCommand: CliCommand = {
  help: `Usage: holdfast show KEY [options]

Show one key: who holds it, since when, how much of the lease is left, under which token; who waits
and for how long. A free key is an answer too.

  --kind KIND         "lock" or "operation"; without it the lock, unless there is only an operation.
                      An operation shows its references and what is remembered to have been done
  --queue N           how much of the queue to show (20; at most ${QUERY_LIMIT_MAX})
${CONNECTION_HELP}

Examples:
  holdfast show orders/42
  holdfast show sha256:4f06b3…
  holdfast show orders/42 --json | jq -r '.holders[].owner'
`,
  run: runShow,
}

async function runShow(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  const [key = ''] = expectWords(positionals, ['KEY'])
  const kind = parseChoice(values.kind, '--kind', ['lock', 'operation'])
  const queueRule = { option: '--queue', min: 1, max: QUERY_LIMIT_MAX }
  const queueLimit = parseWholeNumber(values.queue, queueRule)
  const { reply, hasOperationToo } = await withLocks(values, io, (server) =>
    lookAtKey(server, key, { kind, queueLimit }),
  )
  if (values.json) printJson(io, writeReply({ kind: 'inspect', key }, reply, Date.now()))
  else printKey(io, reply, Date.now())
  if (hasOperationToo && !values.json) io.stdout.write(`\n${OPERATION_TOO}\n`)
  return EXIT_CODES.ok.code
}

function printKey(io: CliIo, reply: InspectReply, nowMs: number): void {
  const { key, namespace, holders, queue, queueLength, token, references, remembered } = reply
  const paint = choosePaint(io, io.stdout)
  const say = (text: string): void => io.stdout.write(`${text}\n`)
  const state = holders.length === 0 ? paint('free', 'green') : paint('held', 'yellow')
  const under = token === null ? '' : `, token ${token}`
  say(`${paint(escapeControls(key), 'bold')}  ${namespace}, ${state}${under}`)
  if (holders.length > 0) {
    say('')
    printTable(io, toHolderColumns(holders, nowMs), holders)
  }
  say('')
  if (queueLength === 0) say('No waiters.')
  else {
    say(`${queueLength} waiting${queue.length < queueLength ? `, the first ${queue.length}` : ''}:`)
    printTable(io, toWaiterColumns(queue, nowMs), queue)
  }
  if (namespace === 'lock') return
  say('')
  say(
    references.length === 0
      ? 'No node references it.'
      : `Referenced by ${escapeControls(references.join(', '))}`,
  )
  for (const { type, node, version, agoMs } of remembered) {
    const which = version === undefined ? '' : ` of version ${version}`
    say(escapeControls(`Remembered: ${type}${which} by ${node}, ${showDuration(agoMs)} ago`))
  }
}

function toHolderColumns(
  holders: readonly HolderReply[],
  nowMs: number,
): readonly Column<HolderReply>[] {
  return [
    { heading: 'HELD BY', cell: ({ owner }) => owner, shrinks: true },
    { heading: 'MODE', cell: ({ mode }) => mode },
    { heading: 'SINCE', cell: ({ heldMs }) => showTime(nowMs - heldMs, nowMs) },
    { heading: 'FOR', cell: ({ heldMs }) => showDuration(heldMs) },
    { heading: 'LEASE LEFT', cell: ({ leaseMs }) => showDuration(leaseMs) },
    { heading: 'TOKEN', cell: ({ token }) => String(token), align: 'right' },
    ...columnIfAny<HolderReply>('SESSION', holders, ({ session }) => shorten(session)),
    ...columnIfAny<HolderReply>('SAYS', holders, ({ meta }) => meta),
  ]
}

function toWaiterColumns(
  queue: readonly WaiterReply[],
  nowMs: number,
): readonly Column<WaiterReply>[] {
  return [
    { heading: '#', cell: ({ position }) => String(position), align: 'right' },
    { heading: 'WAITING', cell: ({ owner }) => owner, shrinks: true },
    { heading: 'MODE', cell: ({ mode, upgrade }) => (upgrade ? 'upgrade' : mode) },
    { heading: 'SINCE', cell: ({ waitedMs }) => showTime(nowMs - waitedMs, nowMs) },
    { heading: 'FOR', cell: ({ waitedMs }) => showDuration(waitedMs) },
    ...columnIfAny<WaiterReply>('LANE', queue, ({ lane }) => lane),
    ...columnIfAny<WaiterReply>('SESSION', queue, ({ session }) => shorten(session)),
  ]
}

/** A session that a machine has named says enough by its beginning; --json has it whole. */
function shorten(session: string | undefined): string | undefined {
  return session?.replace(/^([0-9a-f]{8})[0-9a-f]{24}$/, '$1…')
}

/** A column only where it has something to say. */
function columnIfAny<Row>(
  heading: string,
  rows: readonly Row[],
  cell: (row: Row) => string | undefined,
): readonly Column<Row>[] {
  if (rows.every((row) => cell(row) === undefined)) return []
  return [{ heading, cell: (row) => cell(row) ?? '-', shrinks: true }]
}
