import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import type { InspectReply, Query, ReferencesReply, ReplyOf } from '../../engine/queries.ts'
import type { Command } from '../../law/model/commands.ts'
import type { Outcome, OutcomeOf } from '../../law/model/outcomes.ts'
import type { Clock } from '../../time/clock.ts'
import type { HistoryAnswer, HistoryCall } from '../history.ts'
import type { HistoryRecorder, PendingCall } from '../history-recorder.ts'
import { toHistoryCall } from './oracle/to-history-call.ts'

/** The code of a call that certainly had no effect: it is not part of the history. */
export const NOT_APPLIED = 'not_applied'

export interface RecordedEngineOptions {
  readonly proc: string
  readonly engine: LockEngine
  readonly recorder: HistoryRecorder
  /** The same that the recorder has. */
  readonly clock: Pick<Clock, 'nowMs'>
}

/** An engine that writes down what its client asks and what it is told, at the moment it learns of it. */
export class RecordedEngine implements LockEngine {
  readonly capabilities: Capabilities
  readonly #options: RecordedEngineOptions
  readonly #graces = new Map<string, number>()
  #answered = 0

  constructor(options: RecordedEngineOptions) {
    this.#options = options
    this.capabilities = options.engine.capabilities
  }

  /** How many calls went well. */
  get answered(): number {
    return this.#answered
  }

  async apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>> {
    const { proc, engine, recorder, clock } = this.#options
    if (command.kind === 'open-session') this.#graces.set(command.session, command.graceMs)
    const call = toHistoryCall(proc, command, this.#graces)
    // Whoever cancels does not rely on what it cancels, even if it was told that it has it.
    if (call.op === 'cancel') {
      const { key, space, owner } = call
      recorder.mark('lost', { key, space, owner, detail: 'cancels' })
    }
    const sentAtMs = clock.nowMs()
    const pending = recorder.call(call)
    return this.#record(pending, engine.apply(command, options), (outcome) =>
      writeOutcome(pending, outcome, {
        sentAtMs,
        ttlMs: command.kind === 'begin' ? call.ttlMs : undefined,
      }),
    )
  }

  async read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    const { proc, engine, recorder } = this.#options
    const call = toCheck(proc, query)
    if (call === undefined) return engine.read(query)
    const pending = recorder.call(call)
    return this.#record(pending, engine.read(query), (reply) => {
      pending.ok(toSighting(reply as InspectReply | ReferencesReply))
    })
  }

  watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    return this.#options.engine.watch(filter, listener)
  }

  close(): Promise<void> {
    return this.#options.engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #record<T>(
    pending: PendingCall,
    answer: T | Promise<T>,
    write: (value: T) => void,
  ): Promise<T> {
    let value: T
    try {
      value = await answer
    } catch (error) {
      if (isLockError(error) && error.applied === 'no') pending.fail(NOT_APPLIED)
      else pending.info(isLockError(error) ? error.code : 'error')
      throw error
    }
    this.#answered += 1
    write(value)
    return value
  }
}

interface AskedFor {
  readonly sentAtMs: number
  /** Of an operation alone: a lock is granted for as long as it asked, or longer. */
  readonly ttlMs: number | undefined
}

function writeOutcome(pending: PendingCall, outcome: Outcome, { sentAtMs, ttlMs }: AskedFor): void {
  switch (outcome.kind) {
    case 'granted': {
      const { token, reads, writes, leaseMs } = outcome
      const granted = { answer: 'granted', token, reads, writes, leaseFrom: sentAtMs } as const
      // A request that joins one with a shorter lease is told so, and relies on no more.
      const isShorter = ttlMs !== undefined && leaseMs < ttlMs
      pending.ok(isShorter ? { ...granted, ttlMs: leaseMs } : granted)
      break
    }
    case 'queued':
      pending.ok({ answer: 'queued', position: outcome.position })
      break
    case 'skip':
      pending.ok({ answer: 'skip', value: outcome.value })
      break
    case 'dissolved':
      pending.ok({ answer: 'dissolved' })
      break
    case 'released':
      pending.ok({ reads: outcome.reads, writes: outcome.writes })
      break
    case 'cancelled':
      // Nothing was cancelled: the request made nothing, or has ended.
      if (outcome.cancelled) pending.ok()
      else pending.fail('not_waiting')
      break
    case 'refused':
      pending.fail(outcome.code, outcome.nodes === undefined ? {} : { refs: outcome.nodes })
      break
    default:
      pending.ok()
  }
}

function toCheck(proc: string, query: Query): HistoryCall | undefined {
  if (query.kind === 'inspect') {
    return { proc, op: 'check', key: query.key, space: query.namespace ?? 'lock' }
  }
  if (query.kind !== 'references') return undefined
  return { proc, op: 'check', key: query.resource, space: 'operation' }
}

function toSighting(reply: InspectReply | ReferencesReply): HistoryAnswer {
  if ('nodes' in reply) return { refs: reply.nodes }
  const holders = reply.holders.map(({ owner, reads, writes, token }) => {
    return { owner, reads, writes, token }
  })
  const waiters = reply.queue.map(({ owner, requestId }) => ({ owner, reqId: requestId }))
  const { references } = reply
  return { holders, waiters, ...(reply.namespace === 'operation' ? { refs: references } : {}) }
}
