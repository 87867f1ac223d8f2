/** The engine contract, for those who write an engine or call one directly. */
export type * from '../law/model/commands.ts'
export type * from '../law/model/events.ts'
export type * from '../law/model/outcomes.ts'
export type { Coordination, LawSettings } from '../law/model/settings.ts'
export type * from '../law/model/view.ts'
export type * from './capabilities.ts'
export type * from './engine.ts'
export {
  ERROR_CATALOGUE,
  type ErrorClass,
  type ErrorCode,
  type ErrorEntry,
} from './errors/error-catalogue.ts'
export * from './errors/errors.ts'
export type * from './queries.ts'
export { DEFAULT_SETTINGS } from './validation/default-settings.ts'
