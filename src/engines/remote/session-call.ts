import type { WatchFilter } from '../../engine/engine.ts'
import type { Query } from '../../engine/queries.ts'
import type { Command } from '../../law/commands.ts'
import { writeRead, writeUnwatch, writeWatch } from '../../protocol/session/client-frames.ts'
import { writeCommand } from '../../protocol/session/command-codec.ts'
import type { PackWriter } from '../../protocol/session/pack-writer.ts'

/** What one call asks. */
export type Asked =
  | Command
  | { readonly kind: 'read'; readonly query: Query }
  | { readonly kind: 'watch'; readonly filter: WatchFilter }
  | { readonly kind: 'unwatch'; readonly watch: number }

/** The two ends of the promise that is being made. */
let resolveMade: (value: unknown) => void
let rejectMade: (error: Error) => void
/** One for all promises: there are several hundred thousand of them in a second. */
const capture = (resolve: (value: never) => void, reject: (error: Error) => void): void => {
  resolveMade = resolve as (value: unknown) => void
  rejectMade = reject
}

/** A request that has not been answered. */
export class SessionCall<Value = unknown> {
  readonly id: number
  asked: Asked
  readonly startedAtMs: number
  readonly promise: Promise<Value> = new Promise<Value>(capture)
  readonly resolve: (value: unknown) => void = resolveMade
  readonly reject: (error: Error) => void = rejectMade
  /** What may end its wait. */
  signal: AbortSignal | undefined = undefined
  /** Whether its caller does not mind if it is done twice, whatever it is. */
  mayBeDoneTwice = false
  /** Whether the server may have seen it. */
  wasSent = false
  /** Whether a server may have seen it that is gone. */
  wasForgotten = false
  isAborted = false
  /** Ends the listening for an abort. */
  unlisten: (() => void) | undefined = undefined

  constructor(id: number, asked: Asked, startedAtMs: number) {
    this.id = id
    this.asked = asked
    this.startedAtMs = startedAtMs
  }

  write(writer: PackWriter, ownSession: string): void {
    const { id, asked } = this
    this.wasSent = true
    switch (asked.kind) {
      case 'read':
        return writeRead(writer, id, asked.query)
      case 'watch':
        return writeWatch(writer, id, asked.filter)
      case 'unwatch':
        return writeUnwatch(writer, id, asked.watch)
      default:
        return writeCommand(writer, asked, { id, ownSession, mayAbort: this.signal !== undefined })
    }
  }

  /**
   * Whether a server that does not remember this request may be sent it again without any harm: the law
   * knows it by its request id, or doing it twice is doing it once.
   */
  get isRepeatable(): boolean {
    const { asked } = this
    if (this.mayBeDoneTwice) return true
    switch (asked.kind) {
      case 'acquire':
      case 'begin':
      case 'renew':
      case 'open-session':
      case 'touch-session':
      case 'read':
      case 'watch':
      case 'unwatch':
        return true
      case 'release':
      case 'finish':
        return asked.requestId !== undefined
      case 'cancel':
      case 'withdraw':
      case 'force':
      case 'unref':
      case 'close-session':
      case 'sweep':
        return false
    }
  }
}
