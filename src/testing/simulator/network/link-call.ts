import { createError, isLockError, type LockError } from '../../../engine/errors/errors.ts'
import { isHeldOpen } from '../../../engine/waits/waiting-command.ts'
import type { Clock, Timer } from '../../../time/clock.ts'
import type { Connection, PendingCall } from './connection.ts'
import type { EngineHost, ServedRequest } from '../engine-host.ts'
import { isRepeatable, type LinkRequest, type LinkResult } from './link-request.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import type { SimulatedProcess } from '../simulated-process.ts'

export interface LinkCallParts {
  readonly request: LinkRequest
  readonly connection: Connection
  readonly network: SimulatedNetwork
  readonly host: EngineHost
  readonly process: SimulatedProcess
  /** The client's. */
  readonly clock: Clock
  /** How long the client waits for an answer that the engine gives at once. */
  readonly timeoutMs: number
}

/**
 * One call over a link: the request goes out, is served, and the answer comes back, or some of that.
 * When the client has reason to believe that nothing will come, the call fails with `applied: 'maybe'`;
 * an answer that arrives later is dropped.
 */
export class LinkCall implements PendingCall {
  readonly #parts: LinkCallParts
  #timer: Timer | undefined
  #unlisten: () => void = () => {}
  #isOver = false
  #resolve: (value: unknown) => void = () => {}
  #reject: (error: unknown) => void = () => {}
  /** The waits that the engine holds open for this call: two when the request was duplicated. */
  readonly #open: AbortController[] = []

  constructor(parts: LinkCallParts) {
    this.#parts = parts
  }

  start(signal: AbortSignal | undefined): Promise<unknown> {
    const { connection, clock, timeoutMs } = this.#parts
    const answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    connection.pending.add(this)
    if (this.#waits) this.#listen(signal)
    else this.#timer = clock.setTimer(timeoutMs, () => this.fail())
    this.#send()
    return answer
  }

  fail(): void {
    this.#parts.process.run(() => this.#end({ kind: 'error', error: unanswered() }))
  }

  get #waits(): boolean {
    const { request } = this.#parts
    return request.kind === 'command' && isHeldOpen(request.command)
  }

  #send(): void {
    const { network, connection, request } = this.#parts
    const arrive = (): void => this.#arrive()
    if (!network.send(connection.toEngine, 'drop-request', arrive)) this.#failLater()
    if (!isRepeatable(request)) return
    network.duplicate(arrive)
  }

  /** Nothing will come, and the client notices some time. */
  #failLater(): void {
    const { clock, network } = this.#parts
    clock.setTimer(network.detectionMs(), () => this.fail())
  }

  #arrive(): void {
    const { connection, host, request } = this.#parts
    if (connection.isKnownCut || !host.isServing(connection.life)) return
    const controller = this.#waits ? new AbortController() : undefined
    const served: ServedRequest = {
      request,
      signal: controller?.signal,
      isCut: () => connection.isKnownCut,
      answer: (result) => {
        connection.open.delete(wait)
        this.#answer(result)
      },
    }
    const wait = { abandon: () => host.abandon(served, () => controller?.abort()) }
    if (controller !== undefined) {
      this.#open.push(controller)
      connection.open.add(wait)
    }
    host.serve(served)
  }

  #answer(result: LinkResult): void {
    const { connection, network, process, host, request } = this.#parts
    if (network.resets()) connection.cut({ clientMs: 0, engineMs: 0 })
    if (connection.isKnownCut) {
      host.takeBack(request, result)
      return
    }
    host.told(request)
    const arrive = (): void => process.run(() => this.#end(result))
    if (!network.send(connection.toClient, 'drop-answer', arrive)) this.#failLater()
  }

  #end(result: LinkResult): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#timer?.cancel()
    this.#unlisten()
    this.#parts.connection.pending.delete(this)
    if (result.kind === 'value') this.#resolve(result.value)
    else this.#reject(toClientError(result.error))
  }

  #listen(signal: AbortSignal | undefined): void {
    if (signal === undefined) return
    const onAbort = (): void => this.#abort(signal)
    signal.addEventListener('abort', onAbort, { once: true })
    this.#unlisten = () => signal.removeEventListener('abort', onAbort)
  }

  /** The client gives up: the engine is told, and answers; if it does not, nobody knows. */
  #abort(signal: AbortSignal): void {
    const { network, connection, host, clock, timeoutMs } = this.#parts
    network.send(connection.toEngine, 'drop-request', () => {
      if (!host.isServing(connection.life)) return
      for (const controller of this.#open) controller.abort(signal.reason)
    })
    this.#timer = clock.setTimer(timeoutMs, () => {
      this.#end({ kind: 'error', error: unansweredAbort(signal) })
    })
  }
}

function unanswered(): LockError {
  return createError('LOCK_ENGINE_UNAVAILABLE', 'no answer came', { applied: 'maybe' })
}

function unansweredAbort(signal: AbortSignal): LockError {
  return createError('LOCK_ABORTED', 'the wait was aborted, and nothing was heard of it', {
    applied: 'maybe',
    cause: signal.reason,
  })
}

/** An engine that stops is, seen from afar, one that cannot be reached. */
function toClientError(error: unknown): unknown {
  const stops =
    isLockError(error, 'LOCK_ENGINE_CLOSED') || isLockError(error, 'LOCK_STORAGE_FAILED')
  if (!stops) return error
  const { message, applied } = error
  return createError('LOCK_ENGINE_UNAVAILABLE', message, { applied, cause: error })
}
