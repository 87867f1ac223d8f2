import { randomUUID } from 'node:crypto'
import { createError, isLockError } from '../engine/errors/errors.ts'
import { VALUE_BYTES_MAX } from '../engine/validation/limits.ts'
import { toJsonText } from '../locks/operations/json-text.ts'
import type { NodeStatus, ReferencesAnswer, UnrefAnswer } from '../wire/json/operation-body.ts'
import { toAnswerError } from './answer-errors.ts'
import type { Call } from './http-caller.ts'
import {
  type LockClientOptions,
  type LockClientSettings,
  toLockClientSettings,
} from './lock-client-options.ts'
import type { LockResult, UnlockResult } from './lock-result.ts'
import { type LockRequest, OperationRequest } from './operation-request.ts'
import { RetryingCaller } from './retrying-caller.ts'

/** How an operation ended. */
export interface UnlockRequest {
  readonly type: string
  readonly resourceId: string
  /** Why it failed; it succeeded if there is none and `success` is not false. */
  readonly error?: Error | string | null | undefined
  readonly success?: boolean | undefined
  /** JSON for the nodes that skip. */
  readonly value?: unknown
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * A client of the lock server for one node: asks for operations on resources, waits for them in the
 * server's queue, and says how they ended. It is shaped like the client that existing fleets know.
 *
 * @example
 * ```ts
 * import { LockClient } from 'holdfast/client'
 *
 * async function pullOnce(layer: string, pull: (signal?: AbortSignal) => Promise<void>) {
 *   const client = new LockClient({ server: 'http://127.0.0.1:8086', nodeId: 'node-a' })
 *   const operation = { type: 'pull', resourceId: layer }
 *   const { acquired, skipped, error, signal } = await client.lock(operation)
 *   if (acquired) {
 *     try {
 *       await pull(signal)
 *       await client.unlock(operation)
 *     } catch (failure) {
 *       await client.unlock({ ...operation, error: String(failure) })
 *     }
 *   }
 *   await client.close()
 *   return { acquired, skipped, error }
 * }
 * ```
 */
export class LockClient implements AsyncDisposable {
  readonly #settings: LockClientSettings
  readonly #caller: RetryingCaller
  readonly #requests = new Map<string, OperationRequest>()
  #isClosed = false

  constructor(options: LockClientOptions) {
    this.#settings = toLockClientSettings(options)
    this.#caller = new RetryingCaller(this.#settings)
  }

  /**
   * Asks for an operation and waits until it is acquired, skipped or refused. A network error or a time-out
   * is tried again; what is left of it is in the result. Rejects only when the signal aborts, which gives
   * up the place in the queue.
   */
  async lock(request: LockRequest, { signal }: CallOptions = {}): Promise<LockResult> {
    this.#assertOpen()
    if (signal?.aborted) throw createError('LOCK_ABORTED', 'the signal was aborted before the call')
    const parts = { caller: this.#caller, settings: this.#settings, request, signal }
    const asked = new OperationRequest(parts)
    const name = nameOf(request)
    this.#requests.set(name, asked)
    let isHeld = false
    try {
      const result = await asked.settle()
      isHeld = result.acquired
      return result
    } finally {
      if (!isHeld && this.#requests.get(name) === asked) this.#requests.delete(name)
    }
  }

  /** Says how an operation ended, and releases its resource. */
  async unlock(request: UnlockRequest, { signal }: CallOptions = {}): Promise<UnlockResult> {
    this.#assertOpen()
    const name = nameOf(request)
    const asked = this.#requests.get(name)
    try {
      const body = { ...this.#toUnlock(request), token: asked?.token, request_id: randomUUID() }
      const answer = await this.#caller.call({ method: 'POST', path: '/unlock', body, signal })
      if (answer.body['released'] === true) return { released: true, error: null }
      return { released: false, error: toAnswerError(answer) }
    } catch (failure) {
      if (!isLockError(failure) || failure.code === 'LOCK_ABORTED') throw failure
      return { released: false, error: failure }
    } finally {
      this.#requests.delete(name)
      await asked?.end()
    }
  }

  /** How an operation stands, from this node's point of view. Asking keeps its place in the queue. */
  status(
    { type, resourceId }: Pick<LockRequest, 'type' | 'resourceId'>,
    { signal }: CallOptions = {},
  ): Promise<NodeStatus> {
    const body = { type, resource_id: resourceId, node_id: this.#settings.nodeId }
    return this.#read({ method: 'POST', path: '/lock/status', body, signal })
  }

  /** Which nodes use a resource. */
  refs(resourceId: string, { signal }: CallOptions = {}): Promise<ReferencesAnswer> {
    const query = new URLSearchParams({ resource_id: resourceId })
    return this.#read({ method: 'GET', path: `/refs?${query.toString()}`, signal })
  }

  /** This node no longer uses a resource, or, without one, anything at all. */
  unref(resourceId?: string, { signal }: CallOptions = {}): Promise<UnrefAnswer> {
    const body = { resource_id: resourceId, node_id: this.#settings.nodeId }
    return this.#read({ method: 'POST', path: '/unref', body, signal })
  }

  /**
   * Ends every connection. What is still held or waited for is given up: held operations as failed where
   * the server can see it, which is where they are waited for by events.
   */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await Promise.all([...this.#requests.values()].map((asked) => asked.end()))
    this.#requests.clear()
    this.#caller.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #read<Shape>(call: Call): Promise<Shape> {
    this.#assertOpen()
    const answer = await this.#caller.call(call)
    if (answer.status !== 200) throw toAnswerError(answer)
    return answer.body as unknown as Shape
  }

  #toUnlock({ type, resourceId, error, success, value }: UnlockRequest): Record<string, unknown> {
    toJsonText(value, { what: `the value of "${resourceId}"`, bytesMax: VALUE_BYTES_MAX })
    return {
      type,
      resource_id: resourceId,
      node_id: this.#settings.nodeId,
      error: error instanceof Error ? error.message || error.name : (error ?? ''),
      success: error instanceof Error ? false : success,
      value,
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw createError('LOCK_ENGINE_CLOSED', 'the client is closed')
  }
}

/** A type has no line break. */
function nameOf({ type, resourceId }: Pick<LockRequest, 'type' | 'resourceId'>): string {
  return `${type}\n${resourceId}`
}
