import type { CliCommand } from '../cli-command.ts'
import type { CliIo } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, withLocks } from '../connection-options.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { toPrintable } from '../output/printable.ts'
import { printJson } from '../output/print-json.ts'
import { expectWords, parseChoice, parseCommandArgs } from '../parse-command-args.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  force: { type: 'boolean', default: false },
  owner: { type: 'string' },
  kind: { type: 'string', default: 'lock' },
} as const

const WHY_FORCE = `release ends somebody else's hold, so it needs --force.
  The holder is not asked. It learns of it when it next talks to the server; until then it may go on
  working beside whoever gets the lock next. Only a resource that checks fencing tokens refuses it.
  See first who it is:  holdfast show KEY`

export const releaseCommand: CliCommand = {
  help: `Usage: holdfast release --force KEY [options]

End holds on a key by an operator's word, whoever has them. Waiters stay, and the next one is
granted. The holder is not asked, and may still be at work: only a resource that checks fencing
tokens is safe from it. Needs the admin right where the server asks for tokens. Nothing is asked
back; a free key is no error.

  --force             required, so that nobody does it by accident
  --owner OWNER       only this owner's hold, as "holdfast show" names it
  --kind KIND         "lock" (the default) or "operation", for a resource
${CONNECTION_HELP}

Examples:
  holdfast show orders/42                       # who is it?
  holdfast release --force orders/42
  holdfast release --force --kind operation sha256:4f06b3…
`,
  run: runRelease,
}

async function runRelease(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  const [key = ''] = expectWords(positionals, ['KEY'])
  const kind = parseChoice(values.kind, '--kind', ['lock', 'operation'])
  if (!values.force) throw new UsageError(WHY_FORCE)
  const { owner } = values
  const forced = await withLocks(values, io, (server) => server.forceRelease(key, { owner, kind }))
  if (values.json) printJson(io, { forced })
  else io.stdout.write(`${toPrintable(describe(key, forced))}\n`)
  return EXIT_CODES.ok.code
}

function describe(key: string, forced: number): string {
  if (forced === 0) return `Nothing to release: nobody holds ${key}.`
  return `Released ${key}: ${forced} ${forced === 1 ? 'hold' : 'holds'} ended.`
}
