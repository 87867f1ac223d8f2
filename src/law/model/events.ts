import type { RefusalCode } from './outcomes.ts'
import type { HoldEnd, Mode, Namespace } from './view.ts'

/**
 * What people and programs that watch are told. Events are hints; the state is the truth.
 *
 * `granted`: a hold or a step of one began. `queued`: a waiter joined. `released`: a step was given up,
 * or the last one. `expired`, `disconnected`, `forced`: the hold ended so. `cancelled`: a waiter left,
 * or a grant was undone. `refused`: a request was. `completed`: an operation said how it ended.
 */
export type EventKind =
  | 'granted'
  | 'queued'
  | 'released'
  | 'expired'
  | 'cancelled'
  | 'disconnected'
  | 'forced'
  | 'refused'
  | 'completed'

export interface LawEvent {
  readonly kind: EventKind
  readonly namespace: Namespace
  readonly key: string
  readonly owner: string
  readonly requestId?: string | undefined
  readonly mode?: Mode | undefined
  readonly token?: number | undefined
  readonly code?: RefusalCode | undefined
  readonly end?: HoldEnd | undefined
  /** With `expired`, `disconnected` and `forced`: the session that the hold was taken in. */
  readonly session?: string | undefined
  /** With `completed`, and with every other event of an operation except for the last three fields. */
  readonly type?: string | undefined
  readonly node?: string | undefined
  readonly success?: boolean | undefined
  readonly error?: string | undefined
  readonly value?: string | undefined
}
