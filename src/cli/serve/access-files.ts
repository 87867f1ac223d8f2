import { DocumentError } from '../../server/http/parse-document.ts'
import { parseTokenFile, type TokenEntry } from '../../server/access/token-file.ts'
import type { TlsMaterial } from '../../server/http/listener.ts'
import type { LockServer } from '../../server/lock-server.ts'
import type { Log } from '../../server/observe/log.ts'
import type { ServeSettings } from '../settings/read-serve-settings.ts'
import { SettingError } from '../settings/setting-error.ts'
import { followFiles, readSettingFile } from './followed-file.ts'

export function readTokens({ tokens, sources }: ServeSettings): readonly TokenEntry[] | undefined {
  if (tokens === undefined) return undefined
  try {
    return parseTokenFile(tokens, readSettingFile(sources['tokens'], tokens))
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    throw new SettingError(sources['tokens'] ?? 'tokens', error.message)
  }
}

export function readTls({ tls, sources }: ServeSettings): TlsMaterial | undefined {
  if (tls === undefined) return undefined
  return {
    cert: readSettingFile(sources['tls-cert'], tls.cert),
    key: readSettingFile(sources['tls-key'], tls.key),
    ca: tls.ca === undefined ? undefined : readSettingFile(sources['tls-ca'], tls.ca),
  }
}

/**
 * Reads the files again when they change. One that cannot be used changes nothing: what was read last
 * stays in force, and the log says so. Returns how to stop.
 */
export function followAccessFiles(
  settings: ServeSettings,
  server: LockServer,
  log: Log,
): () => void {
  const attempt = (what: string, replace: () => void): void => {
    try {
      replace()
      log.info(`${what} replaced`)
    } catch (error) {
      const { message } = error as Error
      log.error(`${what} cannot be replaced; the old ones stay in force`, { error: message })
    }
  }
  const stops: (() => void)[] = []
  if (settings.tokens !== undefined) {
    const replace = (): void => server.replaceTokens(readTokens(settings) ?? [])
    stops.push(followFiles([settings.tokens], () => attempt('tokens', replace)))
  }
  if (settings.tls !== undefined) {
    const { cert, key, ca } = settings.tls
    const replace = (): void => server.replaceTls(readTls(settings) as TlsMaterial)
    const files = ca === undefined ? [cert, key] : [cert, key, ca]
    stops.push(followFiles(files, () => attempt('certificates', replace)))
  }
  return () => {
    for (const stop of stops) stop()
  }
}
