import { randomUUID } from 'node:crypto'
import { parseDuration } from '../../locks/options/durations.ts'
import type { Locks } from '../../locks/locks.ts'
import { isLoopback } from '../../server/access/loopback.ts'
import {
  BENCH_PARTS,
  type BenchOptions,
  type BenchResult,
  measurePart,
} from '../bench/bench-parts.ts'
import type { CliCommand } from '../cli-command.ts'
import type { CliIo, CliSignal } from '../cli-io.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, serverOf, withLocks } from '../connection-options.ts'
import { EXIT_CODES, exitCodeOfSignal } from '../exit-codes.ts'
import { printJson } from '../output/print-json.ts'
import { type Column, printTable } from '../output/table.ts'
import { expectWords, parseCommandArgs } from '../parse-command-args.ts'
import { UsageError } from '../usage-error.ts'

const DURATION_RULE = { option: '--duration', minMs: 10, maxMs: 30_000 }

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  duration: { type: 'string', default: '2s' },
  yes: { type: 'boolean', default: false },
} as const

export const benchCommand: CliCommand = {
  help: `Usage: holdfast bench [options]

Put a short, bounded load on a server and say how it bore it: acquire and release by one worker,
by 64 side by side, and by 32 workers on the same key. Keys begin with holdfast-bench/ and a random
name, and all of them are free afterwards.

The numbers are those of this client, this network and this server together. For a comparison with
others, see docs/performance.md.

  --duration TIME     for each of the three (2s; at most 30s)
  --yes               measure a server on another machine too: it will feel it
${CONNECTION_HELP}

Examples:
  holdfast bench
  holdfast bench --duration 10s --json
  holdfast bench --server memory:           # the library alone, without a network
`,
  run: runBench,
}

async function runBench(args: readonly string[], io: CliIo): Promise<number> {
  const { values, positionals } = parseCommandArgs(args, OPTIONS)
  expectWords(positionals, [])
  const durationMs = parseDuration(values.duration, DURATION_RULE)
  const server = serverOf(values, io)
  if (!values.yes && !isNear(server)) {
    throw new UsageError(
      'this server may be on another machine, which would feel the load; say --yes',
    )
  }
  const stop = new AbortController()
  let stoppedBy: CliSignal | undefined
  const unlisten = io.onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], (signal) => {
    stoppedBy = signal
    stop.abort()
  })
  const prefix = `holdfast-bench/${randomUUID()}/`
  const options = { durationMs, prefix, signal: stop.signal }
  try {
    const results = await withLocks(values, io, (locks) => measureAll(locks, options, io))
    if (stoppedBy !== undefined) return exitCodeOfSignal(stoppedBy)
    if (values.json) printJson(io, { keys: prefix, results: results.map(toBody) })
    else printTable(io, COLUMNS, results)
    return EXIT_CODES.ok.code
  } finally {
    unlisten()
  }
}

async function measureAll(locks: Locks, options: BenchOptions, io: CliIo): Promise<BenchResult[]> {
  const results: BenchResult[] = []
  for (const part of BENCH_PARTS) {
    if (options.signal.aborted) break
    io.stderr.write(`${part.does}, for ${options.durationMs / 1_000} s\n`)
    results.push(await measurePart(locks, part, options))
  }
  return results
}

const COLUMNS: readonly Column<BenchResult>[] = [
  { heading: 'LOAD', cell: ({ name }) => name },
  { heading: 'WORKERS', cell: ({ workers }) => String(workers), align: 'right' },
  { heading: 'LOCKS', cell: ({ cycles }) => showCount(cycles), align: 'right' },
  { heading: 'LOCKS/S', cell: ({ perSecond }) => showCount(perSecond), align: 'right' },
  { heading: 'MEDIAN', cell: ({ waitMs }) => showMs(waitMs[0]), align: 'right' },
  { heading: 'P99', cell: ({ waitMs }) => showMs(waitMs[1]), align: 'right' },
  { heading: 'LONGEST', cell: ({ waitMs }) => showMs(waitMs[2]), align: 'right' },
]

function toBody(result: BenchResult): Record<string, unknown> {
  const { name, workers, cycles, seconds, perSecond, waitMs } = result
  const [median, p99, max] = waitMs
  return {
    name,
    workers,
    locks: cycles,
    seconds,
    locks_per_second: perSecond,
    wait_ms: { median, p99, max },
  }
}

function showCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

function showMs(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`
}

/** Whether the load stays on this machine. */
function isNear(server: string): boolean {
  if (/^(?:memory|file|sqlite):/i.test(server)) return true
  return URL.canParse(server) && isLoopback(new URL(server).hostname)
}
