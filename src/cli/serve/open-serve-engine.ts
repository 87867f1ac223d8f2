import { resolve } from 'node:path'
import type { LockEngine } from '../../engine/engine.ts'
import { openFileEngine, openMemoryEngine } from '../../engines/embedded/embedded-engine.ts'
import type { ServeSettings } from '../settings/read-serve-settings.ts'
import { SettingError } from '../settings/setting-error.ts'

/** The engine that a server was told to keep its locks in. */
export async function openServeEngine(settings: ServeSettings): Promise<LockEngine> {
  const { engine: url, data, shards, law, sources } = settings
  const options = { settings: law, shards, history: true }
  if (url === undefined) return openFileEngine(resolve(data), options)
  if (url === 'memory:') return openMemoryEngine(options)
  if (/^file:[^/]|^file:\/[^/]/.test(url)) {
    return openFileEngine(resolve(url.slice('file:'.length)), options)
  }
  // What follows the scheme may hold a password.
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'this'
  throw new SettingError(
    sources['engine'] ?? 'engine',
    `there is no engine for ${scheme}; this version knows memory: and file:DIR`,
  )
}
