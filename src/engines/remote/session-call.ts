import type { Request } from '../../wire/session/session-message.ts'

/** The two ends of the promise that is being made. */
let resolveMade: (value: unknown) => void
let rejectMade: (error: Error) => void
/** One for all promises: there are several hundred thousand of them in a second. */
const capture = (resolve: (value: never) => void, reject: (error: Error) => void): void => {
  resolveMade = resolve as (value: unknown) => void
  rejectMade = reject
}

type CallPlace = Pick<SessionCall, 'id' | 'order' | 'startedAtMs'>

/** A request that has not been answered. */
export class SessionCall<Value = unknown> {
  readonly id: number
  /** Grows from call to call. */
  readonly order: number
  readonly startedAtMs: number
  readonly request: Request
  readonly promise: Promise<Value> = new Promise<Value>(capture)
  readonly resolve: (value: unknown) => void = resolveMade
  readonly reject: (error: Error) => void = rejectMade
  /** Whether a server may have seen it. */
  wasSent = false
  /** Its caller waits no more. It keeps its id until the server has answered. */
  isAborted = false

  constructor({ id, order, startedAtMs }: CallPlace, request: Request) {
    this.id = id
    this.order = order
    this.startedAtMs = startedAtMs
    this.request = request
  }

  /**
   * Whether it can be sent again after its answer was lost: the law knows it by its request id, or asking
   * for it twice is asking once. Others may have been applied, and no answer would tell.
   */
  get isRepeatable(): boolean {
    const { request } = this
    switch (request.kind) {
      case 'acquire':
      case 'begin':
      case 'renew':
      case 'open-session':
      case 'touch-session':
      case 'read':
      case 'watch':
      case 'unwatch':
      case 'sweep':
        return true
      case 'release':
      case 'finish':
      case 'cancel':
      case 'withdraw':
        return request.requestId !== undefined
      case 'force':
      case 'unref':
      case 'close-session':
        return false
    }
  }
}
