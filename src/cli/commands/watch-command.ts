import type { WatchEvent } from '../../engine/engine.ts'
import { writeEvent } from '../../wire/json/event-body.ts'
import { escapeControls } from '../../server/observe/escape-controls.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo, CliSignal } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, withLocks } from '../connection-options.ts'
import { EXIT_CODES, exitCodeOfSignal } from '../exit-codes.ts'
import { choosePaint, type Colour, type Paint } from '../output/paint.ts'
import { printJson } from '../output/print-json.ts'
import { expectWords, parseChoice, parseCommandArgs } from '../parse-command-args.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  prefix: { type: 'string' },
  kind: { type: 'string' },
} as const

export const watchCommand: CliCommand = {
  help: `Usage: holdfast watch [options]

Follow every change as it happens, one line each, until interrupted. A connection that breaks is
made again; if events were missed meanwhile, a line says so ("reset").

  --prefix TEXT       only keys that begin with this
  --kind KIND         only "lock" or only "operation"
${CONNECTION_HELP}: JSON lines, one event each

Examples:
  holdfast watch
  holdfast watch --prefix orders/
  holdfast watch --json | jq -c 'select(.event == "expired")'
`,
  run: runWatch,
}

async function runWatch(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  expectWords(positionals, [])
  const kind = parseChoice(values.kind, '--kind', ['lock', 'operation'])
  const paint = choosePaint(io, io.stdout)
  const print = values.json
    ? (event: WatchEvent) => printJson(io, writeEvent(event, String(event.id)))
    : (event: WatchEvent) => io.stdout.write(`${toLine(event, paint)}\n`)
  const stop = new AbortController()
  let stoppedBy: CliSignal | undefined
  const unlisten = io.onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], (signal) => {
    stoppedBy = signal
    stop.abort()
  })
  // A watch does not keep a process alive, and this process has nothing else to do.
  const alive = setInterval(() => {}, 60_000)
  try {
    await withLocks(values, io, async (server) => {
      const watch = server.watch({ prefix: values.prefix, kind, signal: stop.signal })
      await watch.ready
      if (io.stderr.isTTY) io.stderr.write('Watching; interrupt to stop.\n')
      for await (const event of watch) print(event)
    })
  } finally {
    clearInterval(alive)
    unlisten()
  }
  return stoppedBy === undefined ? EXIT_CODES.ok.code : exitCodeOfSignal(stoppedBy)
}

const COLOURS: Partial<Readonly<Record<WatchEvent['kind'], Colour>>> = {
  granted: 'green',
  queued: 'yellow',
  expired: 'red',
  forced: 'red',
  disconnected: 'red',
  refused: 'red',
  reset: 'red',
}
const KIND_WIDTH = 'disconnected'.length

function toLine(event: WatchEvent, paint: Paint): string {
  const time = paint(new Date(event.atMs).toISOString(), 'dim')
  const colour = COLOURS[event.kind]
  const padded = event.kind.padEnd(KIND_WIDTH)
  const kind = colour === undefined ? padded : paint(padded, colour)
  if (event.kind === 'reset')
    return `${time}  ${kind}  some events were missed; look with holdfast ls`
  return `${time}  ${kind}  ${paint(escapeControls(event.key), 'bold')}  ${escapeControls(describe(event))}`
}

function describe(event: Exclude<WatchEvent, { readonly kind: 'reset' }>): string {
  const { owner, mode, token, code, end, type, success, error } = event
  const facts = [
    type ?? mode,
    token === undefined ? undefined : `token ${token}`,
    code,
    end === event.kind ? undefined : end,
    success === undefined ? undefined : success ? 'success' : 'failure',
    error === undefined || error === '' ? undefined : JSON.stringify(error),
  ]
  return [owner, ...facts].filter((fact) => fact !== undefined).join('  ')
}
