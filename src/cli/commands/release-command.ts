import type { InspectReply } from '../../engine/queries.ts'
import { escapeControls } from '../../server/observe/escape-controls.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, withLocks } from '../connection-options.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { lookAtKey, OPERATION_TOO } from '../look-at-key.ts'
import { printJson } from '../output/print-json.ts'
import { expectWords, parseChoice, parseCommandArgs } from '../parse-command-args.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  force: { type: 'boolean', default: false },
  owner: { type: 'string' },
  kind: { type: 'string' },
} as const

const WHY_FORCE = `release ends another owner's hold, so it needs --force.
  The holder is not asked. It learns of it when it next talks to the server; until then it may go on
  working beside the next holder. Only a resource that checks fencing tokens refuses it.
  See first who it is:  holdfast show KEY`

export const releaseCommand: CliCommand = {
  help: `Usage: holdfast release --force KEY [options]

End the holds on a key by an operator's word. Waiters stay, and the next one is granted. The holder
is not asked, and may still be at work: only a resource that checks fencing tokens is safe from it.
Needs the admin right where the server asks for tokens. Nothing is asked back; a free key is no
error.

  --force             required, so that it does not happen by accident
  --owner OWNER       only this owner's hold, as "holdfast show" names it
  --kind KIND         "lock" or "operation"; without it the lock, unless there is only an operation
${CONNECTION_HELP}

Examples:
  holdfast show orders/42                       # who is it?
  holdfast release --force orders/42
  holdfast release --force sha256:4f06b3… --owner pull:node-3
`,
  run: runRelease,
}

async function runRelease(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  const [key = ''] = expectWords(positionals, ['KEY'])
  const kind = parseChoice(values.kind, '--kind', ['lock', 'operation'])
  if (!values.force) throw new UsageError(WHY_FORCE)
  const { owner } = values
  const { reply, hasOperationToo, forced } = await withLocks(values, io, async (server) => {
    const looked = await lookAtKey(server, key, { kind, queueLimit: 1 })
    const asked = { owner, kind: looked.reply.namespace }
    return { ...looked, forced: await server.forceRelease(key, asked) }
  })
  if (values.json) printJson(io, { forced })
  else {
    const done = forced === 0 ? describeNothing(reply, owner) : describeForced(reply, forced)
    io.stdout.write(`${escapeControls(done)}\n`)
    if (hasOperationToo) io.stdout.write(`${OPERATION_TOO}\n`)
  }
  return EXIT_CODES.ok.code
}

function describeForced({ key, namespace }: InspectReply, forced: number): string {
  const what = namespace === 'lock' ? key : `the operation on ${key}`
  return `Released ${what}: ${forced} ${forced === 1 ? 'hold' : 'holds'} ended.`
}

/** An operator who named an owner may have meant one of the present holders. */
function describeNothing({ key, holders }: InspectReply, owner: string | undefined): string {
  const [first, ...others] = holders
  if (first === undefined || owner === undefined) {
    return `Nothing to release: ${key} has no holder.`
  }
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `Nothing to release: ${owner} does not hold ${key}. It is held by ${first.owner}${more}.`
}
