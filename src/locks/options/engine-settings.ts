import { createError } from '../../engine/errors/errors.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import { type Duration, parseDuration } from './durations.ts'
import type { EmbeddedOptions, LawOptions } from './lock-options.ts'

/** The options of an engine that decides in this process, as such an engine takes them. */
export interface EngineSettings {
  readonly shards?: number
  readonly history?: boolean
  readonly settings: Partial<LawSettings>
  /** For a server: what others on the same store know it by. */
  readonly announceAs?: string
}

/** What is kept for longer than this belongs into a database. */
const SETTING_MS_MAX = 366 * 24 * 60 * 60 * 1000

/** Only what was given: everything else is the engine's to choose. */
export function parseEngineOptions(options: LawOptions & EmbeddedOptions): EngineSettings {
  const { lanes, coordination, multiNode, updateRequiresNoRef, retention } = options
  const { waiterPatience, claimWindow, waitersPerKeyMax, shards, history } = options
  const settings: Partial<LawSettings> = {
    ...(lanes !== undefined && { lanes: parseLanes(lanes) }),
    ...(coordination !== undefined && { coordination }),
    ...(multiNode !== undefined && { multiNode }),
    ...(updateRequiresNoRef !== undefined && { updateRequiresNoRef }),
    ...(retention !== undefined && { retentionMs: parseSetting('retention', retention) }),
    ...(waiterPatience !== undefined && {
      waiterPatienceMs: parseSetting('waiterPatience', waiterPatience),
    }),
    ...(claimWindow !== undefined && { claimWindowMs: parseSetting('claimWindow', claimWindow) }),
    ...(waitersPerKeyMax !== undefined && { waitersPerKeyMax }),
  }
  return {
    settings,
    ...(shards !== undefined && { shards }),
    ...(history === true && { history }),
  }
}

function parseLanes(lanes: readonly string[]): readonly string[] {
  if (Array.isArray(lanes)) return Object.freeze([...lanes])
  throw createError('LOCK_INVALID_ARGUMENT', 'lanes has to be a list of names', {
    details: { option: 'lanes' },
  })
}

function parseSetting(option: string, value: Duration): number {
  return parseDuration(value, { option, minMs: 1, maxMs: SETTING_MS_MAX })
}
