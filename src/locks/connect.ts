import { createError } from '../engine/errors/errors.ts'
import { SessionEngine } from '../engines/remote/session-engine.ts'
import { assertOptions } from './options/check-options.ts'
import { createOwningLocks } from './create-locks.ts'
import { parseEngineOptions } from './options/engine-settings.ts'
import type { ConnectOptions } from './options/lock-options.ts'
import type { Locks } from './locks.ts'
import { ENGINE_SCHEMES, openEngine, parseEngineUrl } from './open-engine.ts'
import type { OpenedEngine } from './shared-engines.ts'
import { parseTlsOptions } from './options/tls-options.ts'

const SERVER_SCHEMES: readonly string[] = ['http', 'https']

/**
 * Connect to an engine.
 *
 * - `memory:` lives in this process and dies with it. Each call has its own; `memory:name` is shared by
 *   all in this process who say the same name.
 * - `file:DIR` is kept in a directory, which one process owns: `file:./locks`, `file:/var/lib/locks`,
 *   `file:///var/lib/locks`.
 * - `http://HOST:PORT`, `https://HOST:PORT` is a lock server, over one WebSocket that is kept open.
 * - `sqlite:FILE` is a database file that processes of one machine share: `sqlite:./locks.db`,
 *   `sqlite:/var/lib/locks.db`. Needs the packages `@photostructure/sqlite` and `kysely`.
 * - `postgres://USER:PASSWORD@HOST/DATABASE` (or `postgresql:`) is a PostgreSQL. Needs `pg` and `kysely`.
 * - `mysql://USER:PASSWORD@HOST/DATABASE` (or `mariadb:`) is a MySQL or MariaDB. Needs `mysql2` and `kysely`.
 *
 * What an engine needs is loaded when it is connected to, and not before. No error repeats a password.
 *
 * @example
 * ```ts
 * import { connect } from 'holdfast'
 *
 * const locks = await connect('memory:', { owner: 'billing-3', retention: '1m' })
 * await locks.withLock('orders/42', async (lock) => console.log(lock.token))
 * await locks.close()
 * ```
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Locks> {
  assertOptions(options)
  const { engine, close } = await open(url, options)
  try {
    return createOwningLocks(engine, options, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function open(url: string, options: ConnectOptions): Promise<OpenedEngine> {
  const parsed = parseEngineUrl(url)
  if (parsed === undefined) throw unknownEngine('an engine is named by a URL such as memory:')
  if (SERVER_SCHEMES.includes(parsed.scheme)) return openRemote(url, options)
  const opened = openEngine(parsed, parseEngineOptions(options))
  if (opened === undefined) throw unknownEngine(`no engine for ${parsed.scheme}:`)
  return opened
}

function unknownEngine(why: string): Error {
  const schemes = [...ENGINE_SCHEMES, ...SERVER_SCHEMES]
  const known = schemes.map((scheme) => `${scheme}:`).join(', ')
  return createError('LOCK_UNKNOWN_ENGINE', `${why}; this version knows ${known}`, {
    details: { schemes },
  })
}

async function openRemote(url: string, options: ConnectOptions): Promise<OpenedEngine> {
  const { token, owner, heartbeatThread } = options
  const address = toServerUrl(url)
  const tls = parseTlsOptions(options)
  const engine = await SessionEngine.open(address, { token, tls, client: owner, heartbeatThread })
  return { engine, close: () => engine.close() }
}

/** Names and passwords in an address end up in logs; a token is an option of its own. */
function toServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && url.host !== '' && isBare(url)) return url.href
  throw createError(
    'LOCK_INVALID_ARGUMENT',
    'a server is named as in http://127.0.0.1:8086, without a query, and a token is given as an option',
  )
}

function isBare({ username, password, search, hash }: URL): boolean {
  return username + password + search + hash === ''
}
