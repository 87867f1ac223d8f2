import { readFileSync } from 'node:fs'
import { isLockError } from '../engine/errors/errors.ts'
import { escapeControls } from '../server/observe/escape-controls.ts'
import type { CliIo } from './cli-io.ts'
import { COMMANDS, type ListedCommand } from './command-list.ts'
import { EXIT_CODES, exitCodeOfError } from './exit-codes.ts'
import { findNearestName } from './nearest-name.ts'
import { choosePaint } from './output/paint.ts'
import { UsageError } from './usage-error.ts'

/** Run one command line, without the name of the program. Resolves to the exit code; never rejects. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const [name = '', ...rest] = args
  try {
    if (name === '' || isHelp(name)) return await printHelp(rest, io)
    if (name === '--version' || name === '-V') {
      io.stdout.write(`holdfast ${readVersion()}\n`)
      return EXIT_CODES.ok.code
    }
    const command = await findCommand(name).load()
    if (asksForHelp(rest)) {
      io.stdout.write(command.help)
      return EXIT_CODES.ok.code
    }
    return await command.run(rest, io)
  } catch (error) {
    reportError(error, io, name)
    return exitCodeOfError(error)
  }
}

function isHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h'
}

/** What follows `--` belongs to the command that is run. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  return own.includes('--help') || own.includes('-h')
}

async function printHelp([topic]: readonly string[], io: CliIo): Promise<number> {
  if (topic === undefined) {
    io.stdout.write(describeAll())
  } else {
    const command = await findCommand(topic).load()
    io.stdout.write(command.help)
  }
  return EXIT_CODES.ok.code
}

function findCommand(name: string): ListedCommand {
  const found = COMMANDS.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = COMMANDS.map((command) => command.name)
  const nearest = findNearestName(name, names)
  const hint =
    nearest === undefined ? `the commands are ${names.join(', ')}` : `did you mean ${nearest}?`
  throw new UsageError(`there is no command "${name}"; ${hint}`)
}

function reportError(error: unknown, io: CliIo, name: string): void {
  const paint = choosePaint(io, io.stderr)
  const isExpected = error instanceof UsageError || isLockError(error)
  const text = isExpected ? error.message : `a defect, please report it: ${String(error)}`
  const lines = text.split('\n').map(escapeControls)
  io.stderr.write(`${paint('holdfast:', 'red')} ${lines.join('\n')}\n`)
  if (!(error instanceof UsageError)) return
  const isKnown = COMMANDS.some((command) => command.name === name)
  io.stderr.write(`Try: holdfast ${isKnown ? `${name} ` : ''}--help\n`)
}

function describeAll(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Locks for fleets of nodes.

Usage: holdfast COMMAND [options]

${lines.join('\n')}

  holdfast COMMAND --help   what a command does, with examples
  holdfast --version

A first look, in two terminals:
  holdfast serve
  holdfast run orders/42 -- sh -c 'echo I hold it under token $HOLDFAST_TOKEN; sleep 60'

and in a third:
  holdfast ls
  holdfast show orders/42
`
}

function readVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
