import { findNearestName } from '../nearest-name.ts'
import type { GivenValue, Setting } from './setting.ts'
import { SETTINGS } from './setting-table.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = 'HOLDFAST_'

/** Names the config file, which is no setting that a file could have. */
export const CONFIG_VARIABLE = 'HOLDFAST_CONFIG'

/** The variables of the environment that are settings; our own names count before the older ones. */
export function readEnvironment(env: Environment): readonly GivenValue[] {
  const given = SETTINGS.flatMap((setting) => {
    const names = [toVariable(setting.name), setting.alsoVariable]
    const source = names.find((name) => name !== undefined && isSet(env, name))
    return source === undefined ? [] : [{ setting, raw: env[source], source }]
  })
  return given
}

/** What is said of each variable that begins like ours and is none: it may be misspelt, or of another version. */
export function sayUnknownVariables(env: Environment): readonly string[] {
  const known = SETTINGS.map((setting: Setting) => toVariable(setting.name))
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !KUBERNETES.test(name) && isSet(env, name))
    .filter((name) => !known.includes(name) && name !== CONFIG_VARIABLE && !OTHERS.has(name))
    .map((name) => {
      const nearest = findNearestName(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      )
      const hint = nearest === undefined ? '' : `; did you mean ${PREFIX}${nearest}?`
      return `${name} is no setting${hint}`
    })
}

/** Kubernetes sets these in every container beside a service that is called holdfast. */
const KUBERNETES = /^HOLDFAST_(?:SERVICE_(?:HOST|PORT)|PORT_\d+_(?:TCP|UDP|SCTP))(?:_|$)/
/** The same for one that has the name of a setting: it is told by its value. */
const KUBERNETES_ADDRESS = { name: 'HOLDFAST_PORT', value: /^(?:tcp|udp|sctp):\/\// }

/** As in `HOLDFAST_SESSION_GRACE`. */
export function toVariable(name: string): string {
  return PREFIX + name.toUpperCase().replaceAll('-', '_')
}

function isSet(env: Environment, name: string): boolean {
  const value = env[name] ?? ''
  return value !== '' && !(name === KUBERNETES_ADDRESS.name && KUBERNETES_ADDRESS.value.test(value))
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
