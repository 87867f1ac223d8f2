import { readFile } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { connect } from '../locks/connect.ts'
import type { Locks } from '../locks/locks.ts'
import { assertListening } from './assert-listening.ts'
import type { CliIo } from './cli-io.ts'
import { UsageError } from './usage-error.ts'

const SERVER_DEFAULT = 'http://127.0.0.1:8086'

const CLOSE_MS_MAX = 1_000
/** The data directory of a server, opened without one: what is in it is shown, and goes on. */
const KEEPS_HISTORY = /^file:/i

/** Options of every command that talks to a server, for `parseCommandArgs`. */
export const CONNECTION_OPTIONS = {
  server: { type: 'string' },
  'token-file': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** The same, for people. */
export const CONNECTION_HELP: string = `  --server URL        where the locks are; else HOLDFAST_SERVER, else ${SERVER_DEFAULT}.
                      Any engine's URL will do: file:./holdfast-data needs no server
  --token-file FILE   a file with the bearer token; else HOLDFAST_AUTH_TOKEN. Never an option
                      of its own, because others could read it in the list of processes
  --json              for machines`

export interface ConnectionValues {
  readonly server?: string | undefined
  readonly 'token-file'?: string | undefined
}

/** Where a command connects to. */
export function serverOf(values: ConnectionValues, io: CliIo): string {
  return values.server ?? (io.env['HOLDFAST_SERVER'] || SERVER_DEFAULT)
}

export interface OpenLocksOptions {
  /** The first part of the owner that others see. Default: user and machine. */
  readonly owner?: string | undefined
}

export async function openLocks(
  values: ConnectionValues,
  io: CliIo,
  options: OpenLocksOptions = {},
): Promise<Locks> {
  const token = await readToken(values, io)
  const owner = options.owner ?? describeMyself()
  const server = serverOf(values, io)
  await assertListening(server)
  return connect(server, { owner, token, history: KEEPS_HISTORY.test(server) })
}

/** Connect, do something, and close whatever came of it. */
export async function withLocks<Result>(
  values: ConnectionValues,
  io: CliIo,
  run: (locks: Locks) => Promise<Result>,
): Promise<Result> {
  const locks = await openLocks(values, io)
  try {
    return await run(locks)
  } finally {
    await closeLocks(locks)
  }
}

/** Close, and do not wait long for a server that is away. Never rejects: what was to be done is done. */
export async function closeLocks(locks: Locks): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const isLate = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS_MAX)
  })
  await Promise.race([locks.close().catch(() => undefined), isLate])
  clearTimeout(timer)
}

async function readToken(values: ConnectionValues, io: CliIo): Promise<string | undefined> {
  const path = values['token-file']
  if (path === undefined) return io.env['HOLDFAST_AUTH_TOKEN'] || undefined
  let token: string
  try {
    token = (await readFile(path, 'utf8')).trim()
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException
    throw new UsageError(`--token-file cannot be read: ${code}`)
  }
  if (token === '') throw new UsageError('--token-file is empty')
  return token
}

function describeMyself(): string {
  return `${readUserName()}@${hostname()}`.slice(0, 64)
}

/** A container may run under an id that has no name. */
function readUserName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 0}`
  }
}
