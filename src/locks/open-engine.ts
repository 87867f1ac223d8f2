import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LockEngine } from '../engine/engine.ts'
import { createError } from '../engine/errors/errors.ts'
import { openFileEngine, openMemoryEngine } from '../engines/embedded/embedded-engine.ts'
import { loadDriver } from '../engines/sql/load-driver.ts'
import type { SqlDatabase } from '../engines/sql/sql-dialect.ts'
import type { EngineSettings } from './options/engine-settings.ts'
import { type OpenedEngine, SharedEngines } from './shared-engines.ts'

/** An address of an engine, cut at its first colon. The rest may hold a password: no error repeats it. */
export interface EngineUrl {
  readonly scheme: string
  readonly rest: string
}

type Opener = (url: EngineUrl, settings: EngineSettings) => Promise<OpenedEngine>

/** Every engine that keeps locks, by the scheme of its URL; what `connect` and `serve` can be told. */
const OPENERS: Readonly<Record<string, Opener>> = {
  memory: openMemory,
  file: openFile,
  sqlite: openSqlite,
  postgres: openPostgres,
  postgresql: openPostgres,
  mysql: openMysql,
  mariadb: openMysql,
}

export const ENGINE_SCHEMES: readonly string[] = Object.keys(OPENERS)

const namedMemories = new SharedEngines()

export function parseEngineUrl(url: string): EngineUrl | undefined {
  const parts = typeof url === 'string' ? /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) : null
  if (parts === null) return undefined
  return { scheme: (parts[1] ?? '').toLowerCase(), rest: parts[2] ?? '' }
}

/** Undefined where no engine goes by this scheme. What an engine needs is loaded when it is opened. */
export function openEngine(
  url: EngineUrl,
  settings: EngineSettings,
): Promise<OpenedEngine> | undefined {
  return Object.hasOwn(OPENERS, url.scheme) ? OPENERS[url.scheme]?.(url, settings) : undefined
}

async function openMemory(
  { rest: name }: EngineUrl,
  options: EngineSettings,
): Promise<OpenedEngine> {
  if (name === '') return own(openMemoryEngine(options))
  return namedMemories.open(`memory:${name}`, {
    open: () => openMemoryEngine(options),
    fingerprint: JSON.stringify(options),
  })
}

async function openFile(url: EngineUrl, options: EngineSettings): Promise<OpenedEngine> {
  return own(await openFileEngine(toPath(url, 'file:./locks'), options))
}

async function openSqlite(url: EngineUrl, options: EngineSettings): Promise<OpenedEngine> {
  if (url.rest.startsWith(':memory:')) {
    const text = 'sqlite: needs a file; locks that live in this process alone are at memory:'
    throw createError('LOCK_INVALID_ARGUMENT', text)
  }
  const file = toPath(url, 'sqlite:./locks.db')
  await loadDriver('@photostructure/sqlite', () => import('@photostructure/sqlite'))
  await loadKysely()
  const sqlite = await import('../engines/sql/sqlite/open-sqlite.ts')
  return openSql(() => sqlite.openSqlite(file), options)
}

async function openPostgres({ rest }: EngineUrl, options: EngineSettings): Promise<OpenedEngine> {
  const { href } = toAddress(`postgres:${rest}`, 'postgres://user@127.0.0.1:5432/database')
  await loadDriver('pg', () => import('pg'))
  await loadKysely()
  const postgres = await import('../engines/sql/postgres/open-postgres.ts')
  return openSql(() => postgres.openPostgres(href), options)
}

async function openMysql({ rest }: EngineUrl, options: EngineSettings): Promise<OpenedEngine> {
  const example = 'mysql://user@127.0.0.1:3306/database'
  const { href, pathname } = toAddress(`mysql:${rest}`, example)
  if (pathname.length < 2) throw badAddress(example)
  await loadDriver('mysql2', () => import('mysql2'))
  await loadKysely()
  const mysql = await import('../engines/sql/mysql/open-mysql.ts')
  return openSql(() => mysql.openMysql(href), options)
}

/** After the driver, whose absence is the better thing to complain of: it says how to get both. */
async function loadKysely(): Promise<void> {
  await loadDriver('kysely', () => import('kysely'))
}

async function openSql(
  open: () => Promise<SqlDatabase>,
  { settings, announceAs }: EngineSettings,
): Promise<OpenedEngine> {
  const { openSqlEngine } = await import('../engines/sql/open-sql-engine.ts')
  let warnings: readonly string[] | undefined
  const openAndNote = async (): Promise<SqlDatabase> => {
    const database = await open()
    warnings = database.warnings
    return database
  }
  return { ...own(await openSqlEngine(openAndNote, { settings, announceAs })), warnings }
}

function own(engine: LockEngine): OpenedEngine {
  return { engine, close: () => engine.close() }
}

function toPath({ scheme, rest }: EngineUrl, example: string): string {
  if (rest === '') {
    throw createError('LOCK_INVALID_ARGUMENT', `${scheme}: needs a path, as in ${example}`)
  }
  // Only the form with slashes is a URL, with escapes; the others are paths as they stand.
  if (!rest.startsWith('//')) return resolve(rest)
  try {
    return fileURLToPath(`file:${rest}`)
  } catch (cause) {
    throw createError('LOCK_INVALID_ARGUMENT', `this ${scheme}: URL names no path here`, { cause })
  }
}

/** Read here first: what a driver says of an address that it cannot read repeats it. */
function toAddress(text: string, example: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^[a-z]+:\/\//.test(text)) throw badAddress(example)
  return url
}

function badAddress(example: string): Error {
  return createError(
    'LOCK_INVALID_ARGUMENT',
    `a database is named as in ${example}, with %XX for characters that are special in a URL`,
  )
}
