import { TTL_MS_DEFAULT } from '../../engine/validation/limits.ts'
import type { LockServerOptions } from '../../server/lock-server.ts'
import type { LogLevel } from '../../server/observe/log.ts'
import { DocumentError, parseDocument } from '../../server/http/parse-document.ts'
import type { ServerLimits } from '../../server/server-limits.ts'
import { findNearestName } from '../nearest-name.ts'
import { UsageError } from '../usage-error.ts'
import { parseValue, type SettingValue } from './parse-value.ts'
import {
  CONFIG_VARIABLE,
  type Environment,
  readEnvironment,
  sayUnknownVariables,
} from './read-environment.ts'
import { readFlags } from './read-flags.ts'
import type { ConfigFile, GivenValue } from './setting.ts'
import { SettingError } from './setting-error.ts'
import { SETTINGS } from './setting-table.ts'

type LawSettings = NonNullable<LockServerOptions['settings']>

/** Everything that `holdfast serve` was told, checked. */
export interface ServeSettings {
  readonly host: string
  readonly port: number
  /** Absent for the embedded engine in `data`. */
  readonly engine: string | undefined
  readonly data: string
  readonly shards: number
  readonly law: LawSettings
  readonly sessionGraceMs: number
  readonly tokens: string | undefined
  readonly tls: TlsFiles | undefined
  readonly insecure: boolean
  readonly limits: Partial<ServerLimits>
  readonly log: LogLevel
  /** What looks like a mistake, and may be none. */
  readonly warnings: readonly string[]
  /** Where each setting came from, for complaints that come later. */
  readonly sources: Readonly<Record<string, string>>
}

export interface TlsFiles {
  readonly cert: string
  readonly key: string
  readonly ca: string | undefined
}

export interface SettingSources {
  readonly args: readonly string[]
  readonly env: Environment
  /** The text of a file; throws where it cannot be read. */
  readonly readFile: (path: string) => string
}

/** Flags count before the environment, that before the file, that before the defaults. */
export function readServeSettings({ args, env, readFile }: SettingSources): ServeSettings {
  const flags = readFlags(args)
  const variables = readEnvironment(env)
  const inFile = readConfig(flags.configFile ?? findConfig(env), readFile)
  const chosen: Chosen = new Map()
  for (const setting of SETTINGS) {
    if (setting.default !== undefined) {
      choose(chosen, { setting, raw: setting.default, source: `the default of --${setting.name}` })
    }
  }
  for (const given of [...inFile, ...variables, ...flags.given]) choose(chosen, given)
  return { ...toSettings(chosen), warnings: sayUnknownVariables(env) }
}

type Chosen = Map<string, { readonly value: SettingValue; readonly source: string }>

/** A later value replaces an earlier one; limits are replaced one by one. */
function choose(chosen: Chosen, given: GivenValue): void {
  const { setting, source } = given
  const value = parseValue(given)
  const before = chosen.get(setting.name)?.value
  chosen.set(setting.name, {
    value: setting.kind.is === 'limits' ? Object.assign({}, before, value) : value,
    source,
  })
}

function findConfig(env: Environment): ConfigFile | undefined {
  const path = env[CONFIG_VARIABLE]
  return path === undefined || path === '' ? undefined : { path, source: CONFIG_VARIABLE }
}

function readConfig(
  config: ConfigFile | undefined,
  readFile: SettingSources['readFile'],
): readonly GivenValue[] {
  if (config === undefined) return []
  const { path: file } = config
  const document = readDocument(config, readFile)
  return Object.entries(document).map(([name, raw]) => {
    const source = `${file}: ${name}`
    const setting = SETTINGS.find((one) => one.name === name)
    if (setting !== undefined) return { setting, raw, source }
    const names = SETTINGS.map((one) => one.name)
    const nearest = findNearestName(name.replaceAll('_', '-'), names)
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
    throw new SettingError(source, `there is no such setting${hint}`)
  })
}

function readDocument(
  { path, source }: ConfigFile,
  readFile: SettingSources['readFile'],
): Readonly<Record<string, unknown>> {
  let text: string
  try {
    text = readFile(path)
  } catch (error) {
    throw new SettingError(source, (error as Error).message)
  }
  try {
    return parseDocument(path, text)
  } catch (error) {
    throw error instanceof DocumentError ? new UsageError(error.message) : error
  }
}

function toSettings(chosen: Chosen): Omit<ServeSettings, 'warnings'> {
  const get = <T extends SettingValue>(name: string): T => chosen.get(name)?.value as T
  const limits = (chosen.get('limit')?.value as Partial<ServerLimits> | undefined) ?? {}
  return {
    host: get('host'),
    port: get('port'),
    engine: chosen.get('engine')?.value as string | undefined,
    data: get('data'),
    shards: get('shards'),
    law: toLaw(chosen, limits),
    sessionGraceMs: get('session-grace'),
    tokens: chosen.get('tokens')?.value as string | undefined,
    tls: toTls(chosen),
    insecure: get('insecure'),
    limits,
    log: get<LogLevel>('log'),
    sources: Object.fromEntries([...chosen].map(([name, { source }]) => [name, source])),
  }
}

/** A limit on leases holds for default leases, too. */
function toLaw(chosen: Chosen, limits: Partial<ServerLimits>): LawSettings {
  const get = <T extends SettingValue>(name: string): T => chosen.get(name)?.value as T
  const { ttl = Number.POSITIVE_INFINITY, waiters } = limits
  return {
    coordination: get<'server' | 'client' | 'mutex'>('coordination'),
    multiNode: get('multi-node'),
    updateRequiresNoRef: get('update-requires-no-ref'),
    retentionMs: get('retention'),
    operationTtlMs: Math.min(get<number>('operation-ttl'), ttl),
    lockTtlMs: Math.min(TTL_MS_DEFAULT, ttl),
    waiterPatienceMs: get('waiter-patience'),
    claimWindowMs: get('claim-window'),
    lanes: (chosen.get('lanes')?.value as readonly string[] | undefined) ?? [],
    ...(waiters === undefined ? {} : { waitersPerKeyMax: waiters }),
  }
}

function toTls(chosen: Chosen): TlsFiles | undefined {
  const [cert, key, ca] = ['tls-cert', 'tls-key', 'tls-ca'].map((name) => chosen.get(name))
  if (cert === undefined && key === undefined && ca === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const { source } = (cert ?? key ?? ca) as { readonly source: string }
    const missing = cert === undefined ? 'tls-cert' : 'tls-key'
    throw new SettingError(source, `it needs ${missing} as well`)
  }
  return {
    cert: cert.value as string,
    key: key.value as string,
    ca: ca?.value as string | undefined,
  }
}
