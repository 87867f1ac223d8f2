import type { Capabilities } from '../../src/engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../src/engine/engine.ts'
import { toAborted } from '../../src/engine/errors/engine-errors.ts'
import { isLockError } from '../../src/engine/errors/errors.ts'
import type { Query, ReplyOf } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/model/commands.ts'
import type { OutcomeOf } from '../../src/law/model/outcomes.ts'
import type { OpenedChildEngine } from './engine-messages.ts'
import type { EngineProcess } from './engine-process.ts'

/** An engine that lives in another process. */
export class ProcessEngine implements LockEngine {
  readonly capabilities: Capabilities
  readonly #process: EngineProcess
  readonly #engine: number

  constructor(process: EngineProcess, { engine, capabilities }: OpenedChildEngine) {
    this.#process = process
    this.#engine = engine
    this.capabilities = capabilities
  }

  async apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>> {
    const signal = options?.signal
    const isAborted = signal?.aborted ?? false
    const call = { kind: 'apply', engine: this.#engine, command, isAborted } as const
    const { id, answer } = this.#process.call(call)
    const abort = (): void => this.#process.abort(id)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return (await answer) as OutcomeOf<C>
    } catch (error) {
      if (signal !== undefined && isLockError(error, 'LOCK_ABORTED')) {
        throw toAborted(command, signal)
      }
      throw error
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    const call = { kind: 'read', engine: this.#engine, query } as const
    return (await this.#process.call(call).answer) as ReplyOf<Q>
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    const { id, answer } = this.#process.call({ kind: 'watch', engine: this.#engine, filter })
    this.#process.listen(id, listener)
    await answer
    const close = async (): Promise<void> => {
      await this.#process.call({ kind: 'unwatch', watch: id }).answer
    }
    return { close, [Symbol.asyncDispose]: close }
  }

  /** Moves its virtual clock. Resolves when what fell due has been seen to. */
  async advance(ms: number): Promise<void> {
    await this.#process.call({ kind: 'advance', engine: this.#engine, ms }).answer
  }

  /** It loses its connections to the database and is not closed. */
  async abandon(): Promise<void> {
    await this.#process.call({ kind: 'abandon', engine: this.#engine }).answer
  }

  async close(): Promise<void> {
    await this.#process.call({ kind: 'close', engine: this.#engine }).answer
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
