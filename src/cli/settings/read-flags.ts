import { findNearestName } from '../nearest-name.ts'
import { UsageError } from '../usage-error.ts'
import type { ConfigFile, GivenValue, Setting } from './setting.ts'
import { SETTINGS } from './setting-table.ts'

export interface Flags {
  readonly given: readonly GivenValue[]
  readonly configFile: ConfigFile | undefined
}

/** The values of a command line: `--port 80`, `--port=80`, `--multi-node`, `--no-multi-node`. */
export function readFlags(args: readonly string[]): Flags {
  const given: GivenValue[] = []
  let configFile: ConfigFile | undefined
  const rest = [...args]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag, inline] = splitFlag(word)
    if (flag === '--config') {
      configFile = { path: inline ?? takeValue(flag, rest), source: flag }
      continue
    }
    const { setting, isOff } = findSetting(flag)
    if (setting.kind.is === 'flag') {
      if (isOff && inline !== undefined) throw new UsageError(`${flag} takes no value`)
      given.push({ setting, raw: isOff ? false : (inline ?? true), source: flag })
    } else given.push({ setting, raw: inline ?? takeValue(flag, rest), source: flag })
  }
  return { given, configFile }
}

function splitFlag(word: string): readonly [flag: string, inline: string | undefined] {
  if (!word.startsWith('--')) throw new UsageError(`"${word}" is no option of serve`)
  const equals = word.indexOf('=')
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)]
}

function takeValue(flag: string, rest: string[]): string {
  const value = rest.shift()
  if (value === undefined || value.startsWith('--')) throw new UsageError(`${flag} needs a value`)
  return value
}

function findSetting(flag: string): { readonly setting: Setting; readonly isOff: boolean } {
  const name = flag.slice(2)
  const setting = SETTINGS.find((one) => one.name === name)
  if (setting !== undefined) return { setting, isOff: false }
  const denied = SETTINGS.find((one) => one.kind.is === 'flag' && `no-${one.name}` === name)
  if (denied !== undefined) return { setting: denied, isOff: true }
  const nearest = findNearestName(
    name,
    SETTINGS.map((one) => one.name),
  )
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`
  throw new UsageError(`there is no option ${flag}${hint}`)
}
