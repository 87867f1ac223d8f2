import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { isLockError } from '../../engine/errors.ts'
import { openFileEngine } from '../../engines/embedded/embedded-engine.ts'
import { ENGINE_SCHEMES, openEngine, parseEngineUrl } from '../../locks/open-engine.ts'
import type { OpenedEngine } from '../../locks/shared-engines.ts'
import type { ServeSettings } from '../settings/read-serve-settings.ts'
import { SettingError } from '../settings/setting-error.ts'

/** The engine that a server was told to keep its locks in. */
export async function openServeEngine(settings: ServeSettings): Promise<OpenedEngine> {
  const { engine: url, data, shards, law, sources } = settings
  const announceAs = `${hostname()}, process ${process.pid}`
  const options = { settings: law, shards, history: true, announceAs }
  if (url === undefined) {
    const engine = await openFileEngine(resolve(data), options)
    return { engine, close: () => engine.close() }
  }
  const source = sources['engine'] ?? 'engine'
  const parsed = parseEngineUrl(url)
  const opening = parsed === undefined ? undefined : openEngine(parsed, options)
  if (opening === undefined) {
    const known = ENGINE_SCHEMES.map((scheme) => `${scheme}:`).join(', ')
    const scheme = parsed === undefined ? 'this' : `${parsed.scheme}:`
    throw new SettingError(source, `there is no engine for ${scheme}; this version knows ${known}`)
  }
  try {
    return await opening
  } catch (error) {
    const isOurs = isLockError(error, 'LOCK_INVALID_ARGUMENT')
    if (isOurs || isLockError(error, 'LOCK_UNKNOWN_ENGINE')) {
      throw new SettingError(source, error.message)
    }
    throw error
  }
}

/** Where the locks are, for a log: without a password, and without options that may hold one. */
export function showServeEngine({ engine: url, data }: ServeSettings): string {
  if (url === undefined) return `file:${data}`
  const parsed = parseEngineUrl(url)
  if (!parsed?.rest.startsWith('//') || !URL.canParse(url)) return url
  const { protocol, username, host, pathname } = new URL(url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}
