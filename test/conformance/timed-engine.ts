import type { Capabilities } from '../../src/engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../src/engine/engine.ts'
import type { Query, ReplyOf } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/commands.ts'
import type { OutcomeOf } from '../../src/law/outcomes.ts'

/**
 * An engine in another process, whose answers are held back while the clock there is being moved: what
 * is answered on the way is heard when the clock that tests look at has been moved too.
 */
export class TimedEngine implements LockEngine {
  readonly #engine: LockEngine
  readonly #standing: () => Promise<void>

  /** `standing` resolves when the clock does not move. */
  constructor(engine: LockEngine, standing: () => Promise<void>) {
    this.#engine = engine
    this.#standing = standing
  }

  get capabilities(): Capabilities {
    return this.#engine.capabilities
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>> {
    return this.#heard(this.#engine.apply(command, options))
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    return this.#heard(this.#engine.read(query))
  }

  watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    return this.#engine.watch(filter, listener)
  }

  close(): Promise<void> {
    return this.#engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #heard<Answer>(answer: Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await answer
    } finally {
      await this.#standing()
    }
  }
}
