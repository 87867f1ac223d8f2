import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { createError, isLockError } from '../../engine/errors/errors.ts'
import { openFileEngine } from '../../engines/embedded/embedded-engine.ts'
import { fileSystemWarnings } from '../../engines/embedded/file-system-warnings.ts'
import type { EngineSettings } from '../../locks/options/engine-settings.ts'
import { ENGINE_SCHEMES, openEngine, parseEngineUrl } from '../../locks/open-engine.ts'
import type { OpenedEngine } from '../../locks/shared-engines.ts'
import type { ServeSettings } from '../settings/read-serve-settings.ts'
import { SettingError } from '../settings/setting-error.ts'

/** The engine that a server was told to keep its locks in. */
export async function openServeEngine(settings: ServeSettings): Promise<OpenedEngine> {
  const { engine: url, data, sources } = settings
  const source = sources[url === undefined ? 'data' : 'engine'] ?? 'engine'
  try {
    if (url !== undefined) return await openByUrl(url, toOptions(settings))
    const directory = resolve(data)
    const engine = await openFileEngine(directory, toOptions(settings))
    const warnings = await fileSystemWarnings(directory)
    return { engine, close: () => engine.close(), warnings }
  } catch (error) {
    throw nameSetting(error, source, sources)
  }
}

function toOptions({ law, shards }: ServeSettings): EngineSettings {
  const announceAs = `${hostname()}, process ${process.pid}`
  return { settings: law, shards, history: true, announceAs }
}

async function openByUrl(url: string, options: EngineSettings): Promise<OpenedEngine> {
  const parsed = parseEngineUrl(url)
  const opening = parsed === undefined ? undefined : openEngine(parsed, options)
  if (opening !== undefined) return opening
  const known = ENGINE_SCHEMES.map((scheme) => `${scheme}:`).join(', ')
  const scheme = parsed === undefined ? 'this' : `${parsed.scheme}:`
  const message = `there is no engine for ${scheme}; this version knows ${known}`
  throw createError('LOCK_UNKNOWN_ENGINE', message)
}

/** The same complaint, about the setting that it is about: the engine's own, or one of the law. */
function nameSetting(error: unknown, source: string, sources: ServeSettings['sources']): unknown {
  if (!isLockError(error)) return error
  const { code, message, applied, details } = error
  if (code === 'LOCK_UNKNOWN_ENGINE') return new SettingError(source, message)
  if (code === 'LOCK_INVALID_ARGUMENT') {
    return new SettingError(sources[String(details['field'])] ?? source, message)
  }
  return createError(code, `${source}: ${message}`, { applied, details, cause: error })
}

/** Where the locks are, for a log: without a password, and without options that may hold one. */
export function showServeEngine({ engine: url, data }: ServeSettings): string {
  if (url === undefined) return `file:${data}`
  const parsed = parseEngineUrl(url)
  if (!parsed?.rest.startsWith('//') || !URL.canParse(url)) return url
  const { protocol, username, host, pathname } = new URL(url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}
