import { resolve } from 'node:path'
import { type DirectoryRepair, repairDirectory } from '../../engines/embedded/embedded-engine.ts'
import { escapeControls } from '../../server/observe/escape-controls.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { printJson } from '../output/print-json.ts'
import { expectWords, parseCommandArgs } from '../parse-command-args.ts'
import { UsageError } from '../usage-error.ts'

const OPTIONS = { json: { type: 'boolean', default: false } } as const

export const repairCommand: CliCommand = {
  help: `Usage: holdfast repair DIR [options]

Make the data directory of a stopped server usable again when "holdfast serve" refuses it as damaged,
and say what was dropped. What was recorded up to the first place that cannot be read is kept;
everything behind it is forgotten, holds included, so two clients may hold one key until the lease of
the first is over. Every new token is above all that were given out. The files of before are kept
beside the new ones, with names that end in .dropped. An intact directory is left as it is.

  --json              the report as JSON

Examples:
  cp -a /var/lib/holdfast /var/lib/holdfast-before
  holdfast repair /var/lib/holdfast
`,
  run: runRepair,
}

async function runRepair(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  const [name = ''] = expectWords(positionals, ['DIR'])
  const directory = resolve(name)
  const done = await repairDirectory(directory)
  if (done.repair.kind === 'none') throw new UsageError(`${directory} has no journal to repair`)
  if (values.json) printJson(io, toReport(done))
  else io.stdout.write(`${escapeControls(directory)}: ${describe(done)}\n`)
  return EXIT_CODES.ok.code
}

function toReport({ repair, holds, sessions }: DirectoryRepair): object {
  if (repair.kind !== 'repaired') return { repaired: false, holds, sessions }
  const { damage, keptBatch, knownBatch, above, renamed } = repair
  const { file, offset, found } = damage.details
  return {
    repaired: true,
    damage: { file, offset, found },
    kept_batch: keptBatch,
    known_batch: knownBatch,
    tokens_above: above,
    holds,
    sessions,
    renamed,
  }
}

function describe({ repair, holds, sessions }: DirectoryRepair): string {
  const kept = `${count(holds, 'hold')} and ${count(sessions, 'session')}`
  if (repair.kind !== 'repaired') return `intact, with ${kept}; nothing was changed`
  const { damage, keptBatch, knownBatch, above, renamed } = repair
  const { file, offset, found } = damage.details
  const lost =
    knownBatch > keptBatch
      ? `batches ${keptBatch + 1} to ${knownBatch}, and any after them`
      : `whatever came after batch ${keptBatch}`
  return `repaired
  damage   ${String(file)} at byte ${String(offset)}: ${String(found)}
  dropped  ${lost}
  kept     ${kept}
  tokens   go on above ${above}
  renamed  ${renamed.length === 0 ? 'nothing' : renamed.join(', ')}`
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? '' : 's'}`
}
