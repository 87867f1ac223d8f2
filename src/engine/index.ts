/** The engine contract, for those who write an engine or call one directly. */
export type * from '../law/commands.ts'
export type * from '../law/events.ts'
export type * from '../law/outcomes.ts'
export type { Coordination, LawSettings } from '../law/settings.ts'
export type * from '../law/view.ts'
export type * from './capabilities.ts'
export type * from './engine.ts'
export {
  ERROR_CATALOGUE,
  type ErrorClass,
  type ErrorCode,
  type ErrorEntry,
} from './error-catalogue.ts'
export * from './errors.ts'
export type * from './queries.ts'
export { DEFAULT_SETTINGS } from './validation/default-settings.ts'
