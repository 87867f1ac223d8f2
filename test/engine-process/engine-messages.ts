import type { Capabilities } from '../../src/engine/capabilities.ts'
import type { WatchEvent, WatchFilter } from '../../src/engine/engine.ts'
import type { ErrorCode } from '../../src/engine/errors/error-catalogue.ts'
import type { Query } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/model/commands.ts'
import type { LawSettings } from '../../src/law/model/settings.ts'
import type { DatabaseAddress } from './open-database.ts'

export interface OpenChildEngine {
  readonly database: DatabaseAddress
  readonly settings?: Partial<LawSettings> | undefined
  /** Where a virtual clock starts that decides in place of that of the database; absent for real time. */
  readonly virtualNowMs?: number | undefined
}

/** What the parent asks of its child. Engines and watches have numbers there. */
export type ChildCall =
  | { readonly kind: 'open'; readonly options: OpenChildEngine }
  | {
      readonly kind: 'apply'
      readonly engine: number
      readonly command: Command
      readonly isAborted: boolean
    }
  | { readonly kind: 'read'; readonly engine: number; readonly query: Query }
  | { readonly kind: 'watch'; readonly engine: number; readonly filter: WatchFilter }
  | { readonly kind: 'unwatch'; readonly watch: number }
  | { readonly kind: 'advance'; readonly engine: number; readonly ms: number }
  | { readonly kind: 'close'; readonly engine: number }
  /** The connections to the database are gone, as those of a killed process are. */
  | { readonly kind: 'abandon'; readonly engine: number }

/** `abort` ends the wait of an earlier request and has no answer of its own. */
export type ChildRequest =
  | { readonly id: number; readonly call: ChildCall }
  | { readonly abort: number }

export interface OpenedChildEngine {
  readonly engine: number
  readonly capabilities: Capabilities
}

export interface ChildFailure {
  readonly message: string
  /** Absent for what is not an error of the contract. */
  readonly code?: ErrorCode
  readonly applied?: 'no' | 'maybe'
  readonly details?: Readonly<Record<string, unknown>>
}

export type ChildMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: ChildFailure }
  | { readonly watch: number; readonly event: WatchEvent }
