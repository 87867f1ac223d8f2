import type { HistoryEntry } from '../../engine/queries.ts'
import { QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import { writeReply } from '../../wire/json/reply-body.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, withLocks } from '../connection-options.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { printJson } from '../output/print-json.ts'
import { showDuration, showTime } from '../output/show-duration.ts'
import { type Column, printTable } from '../output/table.ts'
import { parseChoice, parseCommandArgs, parseWholeNumber } from '../parse-command-args.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  kind: { type: 'string' },
  limit: { type: 'string', default: '20' },
} as const

export const historyCommand: CliCommand = {
  help: `Usage: holdfast history [KEY] [options]

Show the last holds that have ended, newest first: whose they were, from when to when, and how they
ended. The server keeps the last 100 of each key, for seven days. What is held now is not in there:
see "holdfast show".

  --kind KIND         only "lock" or only "operation"
  --limit N           at most so many (20; at most ${QUERY_LIMIT_MAX})
${CONNECTION_HELP}

Examples:
  holdfast history
  holdfast history orders/42 --limit 5
  holdfast history --json | jq -r '.history[] | select(.end == "expired") | .owner'
`,
  run: runHistory,
}

async function runHistory(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  const [key, extra] = positionals
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`)
  const kind = parseChoice(values.kind, '--kind', ['lock', 'operation'])
  const limit = parseWholeNumber(values.limit, { option: '--limit', min: 1, max: QUERY_LIMIT_MAX })
  const { ends, isKept } = await withLocks(values, io, async (server) => ({
    ends: await server.history({ key, kind, limit }),
    isKept: server.capabilities.history,
  }))
  if (values.json) printJson(io, writeReply({ kind: 'history' }, { ends }, Date.now()))
  else if (ends.length > 0) printTable(io, createColumns(Date.now()), ends)
  else io.stderr.write(isKept ? 'Nothing has ended lately.\n' : 'This engine keeps no history.\n')
  return EXIT_CODES.ok.code
}

function createColumns(nowMs: number): readonly Column<HistoryEntry>[] {
  return [
    { heading: 'KEY', cell: ({ key }) => key, shrinks: true, colour: () => 'bold' },
    { heading: 'HELD BY', cell: ({ owner }) => owner, shrinks: true },
    { heading: 'MODE', cell: ({ mode }) => mode },
    { heading: 'FROM', cell: ({ fromMs }) => showTime(fromMs, nowMs) },
    { heading: 'FOR', cell: ({ fromMs, toMs }) => showDuration(toMs - fromMs) },
    {
      heading: 'END',
      cell: ({ end }) => end,
      colour: ({ end }) => (end === 'released' ? 'green' : 'red'),
    },
    { heading: 'TOKEN', cell: ({ token }) => String(token), align: 'right' },
  ]
}
