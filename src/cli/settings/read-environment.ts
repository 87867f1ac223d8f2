import { findNearestName } from '../nearest-name.ts'
import type { GivenValue, Setting } from './setting.ts'
import { SettingError } from './setting-error.ts'
import { SETTINGS } from './setting-table.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = 'HOLDFAST_'

/** Names the config file, which is no setting that a file could have. */
export const CONFIG_VARIABLE = 'HOLDFAST_CONFIG'

/** The variables of the environment that are settings; our own names count before the older ones. */
export function readEnvironment(env: Environment): readonly GivenValue[] {
  const given = SETTINGS.flatMap((setting) => {
    const names = [toVariable(setting.name), setting.alsoVariable]
    const source = names.find((name) => name !== undefined && isSet(env[name]))
    return source === undefined ? [] : [{ setting, raw: env[source], source }]
  })
  for (const name of Object.keys(env)) refuseMisspelt(name)
  return given
}

/** As in `HOLDFAST_SESSION_GRACE`. */
export function toVariable(name: string): string {
  return PREFIX + name.toUpperCase().replaceAll('-', '_')
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ''
}

/** Others may have variables that begin like ours; one that is nearly a setting is a mistake. */
function refuseMisspelt(variable: string): void {
  if (!variable.startsWith(PREFIX)) return
  const known = SETTINGS.map((setting: Setting) => toVariable(setting.name))
  if (known.includes(variable) || variable === CONFIG_VARIABLE || OTHERS.has(variable)) return
  const nearest = findNearestName(
    variable.slice(PREFIX.length),
    known.map((name) => name.slice(PREFIX.length)),
  )
  if (nearest === undefined) return
  throw new SettingError(variable, `there is no such setting; did you mean ${PREFIX}${nearest}?`)
}

/** What other commands read or set. */
const OTHERS: ReadonlySet<string> = new Set([
  'HOLDFAST_SERVER',
  'HOLDFAST_AUTH_TOKEN',
  'HOLDFAST_CA',
  'HOLDFAST_CLIENT_CERT',
  'HOLDFAST_CLIENT_KEY',
  'HOLDFAST_TOKEN',
  'HOLDFAST_KEY',
  'HOLDFAST_OWNER',
])
