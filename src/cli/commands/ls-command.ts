import type { InspectReply, ListReply } from '../../engine/queries.ts'
import { QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import type { ListOptions } from '../../locks/options/lock-options.ts'
import type { Locks } from '../../locks/locks.ts'
import { writeReply } from '../../wire/json/reply-body.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, withLocks } from '../connection-options.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { printJson } from '../output/print-json.ts'
import { showDuration } from '../output/show-duration.ts'
import { type Column, printTable } from '../output/table.ts'
import {
  expectWords,
  parseChoice,
  parseCommandArgs,
  parseWholeNumber,
} from '../parse-command-args.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  prefix: { type: 'string' },
  owner: { type: 'string' },
  kind: { type: 'string' },
  limit: { type: 'string', default: '100' },
  cursor: { type: 'string' },
  all: { type: 'boolean', default: false },
} as const

export const lsCommand: CliCommand = {
  help: `Usage: holdfast ls [options]

List the keys that are held or waited for, in byte order.

  --prefix TEXT       only keys that begin with this
  --owner OWNER       only keys that this owner holds or waits for
  --kind KIND         only "lock" or only "operation"
  --limit N           at most so many (100; at most ${QUERY_LIMIT_MAX})
  --cursor CURSOR     go on where a list before ended
  --all               everything, page after page
${CONNECTION_HELP}

Examples:
  holdfast ls
  holdfast ls --prefix orders/ --all
  holdfast ls --owner billing-3-9f2c61d0a1b2c3d4-1
  holdfast ls --json | jq -r '.locks[] | select(.queue_length > 10) | .key'
`,
  run: runLs,
}

async function runLs(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  expectWords(positionals, [])
  const listing = {
    prefix: values.prefix,
    owner: values.owner,
    kind: parseChoice(values.kind, '--kind', ['lock', 'operation']),
    limit: parseWholeNumber(values.limit, { option: '--limit', min: 1, max: QUERY_LIMIT_MAX }),
    cursor: values.cursor,
  }
  const listed = await withLocks(values, io, (server) =>
    values.all ? listAll(server, listing) : server.list(listing),
  )
  if (values.json) printJson(io, writeReply({ kind: 'list' }, listed, Date.now()))
  else printKeys(io, listed)
  return EXIT_CODES.ok.code
}

async function listAll(server: Locks, listing: ListOptions): Promise<ListReply> {
  const locks: InspectReply[] = []
  let { cursor } = listing
  do {
    const page = await server.list({ ...listing, limit: QUERY_LIMIT_MAX, cursor })
    locks.push(...page.locks)
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  return { locks, cursor: null }
}

const COLUMNS: readonly Column<InspectReply>[] = [
  { heading: 'KEY', cell: ({ key }) => key, shrinks: true, colour: () => 'bold' },
  { heading: 'KIND', cell: ({ namespace }) => namespace },
  { heading: 'MODE', cell: ({ holders }) => holders[0]?.mode ?? '-' },
  { heading: 'HELD BY', cell: nameHolders, shrinks: true },
  { heading: 'FOR', cell: ({ holders }) => showLongest(holders.map(({ heldMs }) => heldMs)) },
  { heading: 'LEASE', cell: ({ holders }) => showLongest(holders.map(({ leaseMs }) => leaseMs)) },
  {
    heading: 'WAITING',
    cell: ({ queueLength }) => String(queueLength),
    align: 'right',
    colour: ({ queueLength }) => (queueLength > 0 ? 'yellow' : undefined),
  },
  { heading: 'TOKEN', cell: ({ holders }) => String(holders[0]?.token ?? '-'), align: 'right' },
]

function printKeys(io: CliIo, { locks, cursor }: ListReply): void {
  if (locks.length === 0) {
    io.stderr.write('Nothing is held or waited for.\n')
    return
  }
  printTable(io, COLUMNS, locks)
  if (cursor !== null) io.stderr.write('There are more: use --all, or a larger --limit.\n')
}

function nameHolders({ holders }: InspectReply): string {
  const [first, ...others] = holders
  if (first === undefined) return '-'
  return others.length === 0 ? first.owner : `${first.owner} and ${others.length} more`
}

function showLongest(timesMs: readonly number[]): string {
  return timesMs.length === 0 ? '-' : showDuration(Math.max(...timesMs))
}
