import type { LawSettings } from '../law/model/settings.ts'

/** The settings that decide what a lock does. Servers that share an engine have to agree on these. */
type SharedLaw = Pick<
  LawSettings,
  'coordination' | 'multiNode' | 'retentionMs' | 'lanes' | 'updateRequiresNoRef'
>

/** How an operator knows each of them, and how its value is shown. */
const SHOWN: { readonly [Name in keyof SharedLaw]: readonly [string, (value: unknown) => string] } =
  {
    coordination: ['coordination', String],
    multiNode: ['multi-node', showFlag],
    retentionMs: ['retention', (ms) => `${Number(ms) / 1000}s`],
    lanes: ['lanes', (lanes) => (Array.isArray(lanes) && lanes.length > 0 ? lanes.join() : 'none')],
    updateRequiresNoRef: ['update-requires-no-ref', showFlag],
  }

/** What a server tells the others on its engine of how it decides. */
export function writeSharedLaw(settings: LawSettings): string {
  const { coordination, multiNode, retentionMs, lanes, updateRequiresNoRef } = settings
  const law: SharedLaw = { coordination, multiNode, retentionMs, lanes, updateRequiresNoRef }
  return JSON.stringify(law)
}

/**
 * Where another server, which wrote this, decides otherwise: in words for an operator, empty where it does
 * not. What one of the two has never heard of is no difference: it may be of another version.
 */
export function findLawDifferences(written: string, settings: LawSettings): string {
  const theirs = JSON.parse(written) as Readonly<Record<string, unknown>>
  const ours = JSON.parse(writeSharedLaw(settings)) as Readonly<Record<string, unknown>>
  return Object.entries(SHOWN)
    .filter(([name]) => name in theirs)
    .map(([name, [shown, show]]) => ({ shown, their: show(theirs[name]), our: show(ours[name]) }))
    .filter(({ their, our }) => their !== our)
    .map(({ shown, their, our }) => `${shown} ${their}, here ${our}`)
    .join('; ')
}

function showFlag(value: unknown): string {
  return value === true ? 'on' : 'off'
}
