import { parseDuration, type DurationRule } from '../../locks/options/durations.ts'
import type { AcquireOptions } from '../../locks/options/lock-options.ts'
import { type ConnectionValues, CONNECTION_OPTIONS } from '../connection-options.ts'
import { expectWords, parseChoice, parseCommandArgs } from '../parse-command-args.ts'
import { UsageError } from '../usage-error.ts'

/** What `holdfast run` was asked to do. */
export interface RunTerms {
  readonly connection: ConnectionValues
  readonly owner: string | undefined
  readonly key: string
  readonly acquire: AcquireOptions
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number
  readonly command: readonly string[]
}

const { json: _, ...CONNECTION } = CONNECTION_OPTIONS

const OPTIONS = {
  ...CONNECTION,
  wait: { type: 'string' },
  ttl: { type: 'string' },
  mode: { type: 'string' },
  owner: { type: 'string' },
  lane: { type: 'string' },
  grace: { type: 'string', default: '10s' },
} as const

const HOUR_MS = 3_600_000

export function parseRunTerms(args: readonly string[]): RunTerms {
  const end = args.indexOf('--')
  const { values, positionals } = parseCommandArgs(end === -1 ? args : args.slice(0, end), OPTIONS)
  if (end === -1) {
    throw new UsageError('put the command behind two dashes: holdfast run KEY -- command…')
  }
  const [key = ''] = expectWords(positionals, ['KEY'])
  const command = args.slice(end + 1)
  if (command.length === 0) throw new UsageError('there is no command behind the two dashes')
  const { wait, ttl, lane, owner } = values
  return {
    connection: values,
    owner,
    key,
    acquire: {
      wait: wait === undefined ? undefined : parseTime(wait, '--wait', 24 * HOUR_MS),
      ttl: ttl === undefined ? undefined : parseTime(ttl, '--ttl', 24 * HOUR_MS),
      mode: parseChoice(values.mode, '--mode', ['read', 'write']),
      lane,
    },
    graceMs: parseTime(values.grace, '--grace', HOUR_MS),
    command,
  }
}

function parseTime(value: string, option: string, maxMs: number): number {
  const rule: DurationRule = { option, minMs: 0, maxMs }
  return parseDuration(value === '0' ? 0 : value, rule)
}
