import { isLockError } from '../../engine/errors/errors.ts'
import { parseDuration } from '../../locks/options/durations.ts'
import type { ServerLimits } from '../../server/server-limits.ts'
import { findNearestName } from '../nearest-name.ts'
import { LIMIT_TABLE } from './limit-table.ts'
import type { GivenValue, SettingKind } from './setting.ts'
import { SettingError } from './setting-error.ts'

export type SettingValue = string | number | boolean | readonly string[] | Partial<ServerLimits>

/** The value that was given, or a `SettingError`. */
export function parseValue({ setting, raw, source }: GivenValue): SettingValue {
  const { kind } = setting
  switch (kind.is) {
    case 'text':
      if (typeof raw === 'string' && raw !== '') return raw
      throw new SettingError(source, 'it has to be a text that is not empty')
    case 'whole':
      return parseWhole(raw, source, kind)
    case 'duration':
      return parseTime(raw, source, kind)
    case 'flag':
      return parseFlag(raw, source)
    case 'choice': {
      const found = kind.of.find((one) => one === raw)
      if (found !== undefined) return found
      throw new SettingError(source, `it cannot be ${show(raw)}: use ${kind.of.join(', ')}`)
    }
    case 'names':
      return parseNames(raw, source)
    case 'limits':
      return parseLimits(raw, source)
  }
}

interface Range {
  readonly min: number
  readonly max: number
}

function parseWhole(raw: unknown, source: string, { min, max }: Range): number {
  const value = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value
  }
  throw new SettingError(
    source,
    `it cannot be ${show(raw)}: use a whole number from ${min} to ${max}`,
  )
}

function parseTime(
  raw: unknown,
  source: string,
  rule: Extract<SettingKind, { is: 'duration' }>,
): number {
  try {
    return parseDuration(raw, { option: 'it', minMs: rule.minMs, maxMs: rule.maxMs })
  } catch (error) {
    throw isLockError(error) ? new SettingError(source, error.message) : error
  }
}

const FLAG_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  '1': true,
  false: false,
  off: false,
  no: false,
  '0': false,
}

function parseFlag(raw: unknown, source: string): boolean {
  const word = String(raw).toLowerCase()
  const value = Object.hasOwn(FLAG_WORDS, word) ? FLAG_WORDS[word] : undefined
  if (value !== undefined) return value
  throw new SettingError(source, `it cannot be ${show(raw)}: use true or false`)
}

function parseNames(raw: unknown, source: string): readonly string[] {
  const names = typeof raw === 'string' ? raw.split(',').map((name) => name.trim()) : raw
  const isNames =
    Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')
  if (isNames && new Set(names).size === names.length) return names as string[]
  throw new SettingError(source, `it cannot be ${show(raw)}: use different names, as in a,b,c`)
}

/** `NAME=VALUE`, several with commas between them, or a table in a file. */
function parseLimits(raw: unknown, source: string): Partial<ServerLimits> {
  const limits: Record<string, number> = {}
  for (const [name, value] of listLimits(raw, source)) {
    limits[name] = parseLimit(name, value, source)
  }
  return limits
}

function listLimits(raw: unknown, source: string): readonly (readonly [string, unknown])[] {
  if (typeof raw === 'string') {
    return raw.split(',').map((part) => {
      const [name = '', value] = part.split('=', 2)
      if (value !== undefined) return [name.trim(), value.trim()] as const
      throw new SettingError(source, `it cannot be ${show(part)}: use NAME=VALUE`)
    })
  }
  if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return Object.entries(raw)
  throw new SettingError(source, 'it has to be a table of names and values')
}

function parseLimit(name: string, raw: unknown, source: string): number {
  const where = `${source} ${name}`
  const rule = Object.hasOwn(LIMIT_TABLE, name)
    ? LIMIT_TABLE[name as keyof ServerLimits]
    : undefined
  if (rule === undefined) {
    const names = Object.keys(LIMIT_TABLE)
    const nearest = findNearestName(name, names)
    const hint =
      nearest === undefined ? `there are ${names.join(', ')}` : `did you mean ${nearest}?`
    throw new SettingError(where, `there is no such limit; ${hint}`)
  }
  const { unit, min, max } = rule
  if (unit === 'ms') return parseTime(raw, where, { is: 'duration', minMs: min, maxMs: max })
  return parseWhole(unit === 'bytes' ? toBytes(raw) : raw, where, { min, max })
}

const BYTES: Readonly<Record<string, number>> = { b: 1, kib: 1024, mib: 1024 * 1024 }

/** `16384`, `16KiB`, `1MiB`; what is none of those is left for the complaint. */
function toBytes(raw: unknown): unknown {
  const parts = typeof raw === 'string' ? /^(\d{1,12})(b|kib|mib)$/i.exec(raw) : null
  const unit = BYTES[parts?.[2]?.toLowerCase() ?? '']
  return unit === undefined ? raw : Number(parts?.[1]) * unit
}

function show(raw: unknown): string {
  return JSON.stringify(raw) ?? String(raw)
}
