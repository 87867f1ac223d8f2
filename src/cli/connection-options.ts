import { readFile } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { connect } from '../locks/connect.ts'
import type { Locks } from '../locks/locks.ts'
import type { TlsOptions } from '../locks/options/tls-options.ts'
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
  ca: { type: 'string' },
  'client-cert': { type: 'string' },
  'client-key': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** The same, for people. */
export const CONNECTION_HELP: string = `  --server URL        where the locks are; else HOLDFAST_SERVER, else ${SERVER_DEFAULT}.
                      Any engine's URL will do: file:./holdfast-data needs no server
  --token-file FILE   a file with the bearer token; else HOLDFAST_AUTH_TOKEN. Never an option
                      of its own, because others could read it in the list of processes
  --ca FILE           authorities that may have signed an https server's certificate (PEM), in place
                      of the well-known ones; else HOLDFAST_CA
  --client-cert FILE, --client-key FILE
                      a certificate of this client and its key (PEM), for servers that ask for one;
                      else HOLDFAST_CLIENT_CERT, HOLDFAST_CLIENT_KEY
  --json              for machines`

export interface ConnectionValues {
  readonly server?: string | undefined
  readonly 'token-file'?: string | undefined
  readonly ca?: string | undefined
  readonly 'client-cert'?: string | undefined
  readonly 'client-key'?: string | undefined
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
  const tls = await readTls(values, io)
  const owner = options.owner ?? describeMyself()
  const server = serverOf(values, io)
  await assertListening(server)
  return connect(server, { owner, token, ...tls, history: KEEPS_HISTORY.test(server) })
}

/** Connect, do something, and close, also after a failure. */
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
  const token = (await readText(path, '--token-file')).trim()
  if (token === '') throw new UsageError('--token-file is empty')
  return token
}

async function readTls(values: ConnectionValues, io: CliIo): Promise<TlsOptions> {
  const read = async (name: 'ca' | 'client-cert' | 'client-key'): Promise<string | undefined> => {
    const variable = `HOLDFAST_${name.toUpperCase().replace('-', '_')}`
    const given = values[name]
    const path = given ?? (io.env[variable] || undefined)
    return path && (await readText(path, given === undefined ? variable : `--${name}`))
  }
  return { ca: await read('ca'), cert: await read('client-cert'), key: await read('client-key') }
}

/** `source` is what the path came from, for people. */
async function readText(path: string, source: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException
    throw new UsageError(`${source} cannot be read: ${code}`)
  }
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
