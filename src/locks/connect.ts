import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LockEngine } from '../engine/engine.ts'
import { createError } from '../engine/errors.ts'
import { openFileEngine, openMemoryEngine } from '../engines/embedded/embedded-engine.ts'
import { HttpEngine } from '../engines/remote/http-engine.ts'
import { SessionEngine } from '../engines/remote/session-engine.ts'
import { parseEmbeddedOptions } from './embedded-settings.ts'
import { createOwningLocks } from './create-locks.ts'
import type { ConnectOptions } from './lock-options.ts'
import type { Locks } from './locks.ts'
import { type OpenedEngine, SharedEngines } from './shared-engines.ts'

/** Opens the engine of a URL; `rest` is what follows the scheme and its colon. */
type Opener = (rest: string, options: ConnectOptions) => Promise<OpenedEngine>

/** Every engine that `connect` knows, by the scheme of its URL. */
const OPENERS: Readonly<Record<string, Opener>> = {
  memory: openMemory,
  file: openFile,
  http: (rest, options) => openRemote(`http:${rest}`, options),
  https: (rest, options) => openRemote(`https:${rest}`, options),
}

const namedMemories = new SharedEngines()

/**
 * Connect to an engine.
 *
 * - `memory:` lives in this process and dies with it. Each call has its own; `memory:name` is shared by
 *   all in this process who say the same name.
 * - `file:DIR` is kept in a directory, which one process owns: `file:./locks`, `file:/var/lib/locks`,
 *   `file:///var/lib/locks`.
 * - `http://HOST:PORT`, `https://HOST:PORT` is a lock server, over one WebSocket that is kept open. With
 *   `?transport=http`, for networks that let nothing else pass, over plain HTTP.
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
  const { scheme, rest } = splitUrl(url)
  const open = Object.hasOwn(OPENERS, scheme) ? OPENERS[scheme] : undefined
  if (open === undefined) throw unknownEngine(`no engine for ${scheme}:`)
  const { engine, close } = await open(rest, options)
  try {
    return createOwningLocks(engine, options, close)
  } catch (error) {
    await close()
    throw error
  }
}

/** The rest of a URL may hold a password and is not repeated in errors. */
function splitUrl(url: string): { readonly scheme: string; readonly rest: string } {
  const parts = typeof url === 'string' ? /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) : null
  if (parts === null) throw unknownEngine('an engine is named by a URL such as memory:')
  return { scheme: (parts[1] ?? '').toLowerCase(), rest: parts[2] ?? '' }
}

function unknownEngine(why: string): Error {
  const schemes = Object.keys(OPENERS)
  const known = schemes.map((scheme) => `${scheme}:`).join(', ')
  return createError('LOCK_UNKNOWN_ENGINE', `${why}; this version knows ${known}`, {
    details: { schemes },
  })
}

async function openMemory(name: string, options: ConnectOptions): Promise<OpenedEngine> {
  const parsed = parseEmbeddedOptions(options)
  if (name === '') {
    const engine = openMemoryEngine(parsed)
    return { engine, close: () => engine.close() }
  }
  return namedMemories.open(`memory:${name}`, {
    open: () => openMemoryEngine(parsed),
    fingerprint: JSON.stringify(parsed),
  })
}

async function openFile(rest: string, options: ConnectOptions): Promise<OpenedEngine> {
  const engine = await openFileEngine(toDirectory(rest), parseEmbeddedOptions(options))
  return { engine, close: () => engine.close() }
}

async function openRemote(url: string, options: ConnectOptions): Promise<OpenedEngine> {
  const engine = await openRemoteEngine(toServerUrl(url), options)
  return { engine, close: () => engine.close() }
}

function openRemoteEngine(url: URL, options: ConnectOptions): Promise<LockEngine> {
  const { token, owner, pulse } = options
  const transport = url.searchParams.get('transport') ?? 'session'
  url.search = ''
  switch (transport) {
    case 'session':
      return SessionEngine.open(url.href, { token, client: owner, pulse })
    case 'http':
      return HttpEngine.open(url.href, { token })
    default:
      throw createError('LOCK_INVALID_ARGUMENT', 'transport has to be session or http')
  }
}

/** Names and passwords in an address end up in logs; a token is an option of its own. */
function toServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && url.host !== '' && url.username === '' && url.password === '') return url
  throw createError(
    'LOCK_INVALID_ARGUMENT',
    'a server is named as in http://127.0.0.1:8086, and a token is given as an option',
  )
}

function toDirectory(rest: string): string {
  if (rest === '') {
    throw createError('LOCK_INVALID_ARGUMENT', 'file: needs a directory, as in file:./locks')
  }
  // Only the form with slashes is a URL, with escapes; the others are paths as they stand.
  if (!rest.startsWith('//')) return resolve(rest)
  try {
    return fileURLToPath(`file:${rest}`)
  } catch (cause) {
    throw createError('LOCK_INVALID_ARGUMENT', 'this file: URL names no directory here', { cause })
  }
}
