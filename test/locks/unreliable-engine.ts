import type { Capabilities } from '../../src/engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../src/engine/engine.ts'
import { createError, type LockError } from '../../src/engine/errors/errors.ts'
import type { Query, ReplyOf } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/model/commands.ts'
import type { Outcome, OutcomeOf } from '../../src/law/model/outcomes.ts'

/**
 * What happens to a command on its way.
 *
 * - `lose-request`: it never arrives. `lose-answer`: it takes effect, and its answer is lost. Both look
 *   the same to the caller.
 * - `refuse-connection`: it never arrives, and the caller knows.
 * - `hang`: it never arrives, and no answer ever comes.
 * - an error: that error, without taking effect.
 */
export type Fault =
  | 'lose-request'
  | 'lose-answer'
  | 'refuse-connection'
  | 'hang'
  | LockError
  | ((command: Command, pass: () => Promise<Outcome>) => Promise<Outcome>)

/** An engine behind a bad connection: faults are set per kind of command and stay until they are cleared. */
export class UnreliableEngine implements LockEngine {
  readonly sent: Command[] = []
  capabilities: Capabilities
  readonly #inner: LockEngine
  readonly #faults = new Map<Command['kind'], { fault: Fault; times: number }>()

  constructor(inner: LockEngine) {
    this.#inner = inner
    this.capabilities = inner.capabilities
  }

  /** Let the next `times` commands of a kind meet with a fault. */
  fail(kind: Command['kind'], fault: Fault, times: number = Number.POSITIVE_INFINITY): void {
    this.#faults.set(kind, { fault, times })
  }

  heal(): void {
    this.#faults.clear()
  }

  sentOf<K extends Command['kind']>(kind: K): Extract<Command, { kind: K }>[] {
    return this.sent.filter((one): one is Extract<Command, { kind: K }> => one.kind === kind)
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>>
  async apply(command: Command, options?: ApplyOptions): Promise<Outcome> {
    this.sent.push(command)
    const pass = async (): Promise<Outcome> => this.#inner.apply(command, options)
    const set = this.#faults.get(command.kind)
    if (set === undefined || set.times === 0) return pass()
    set.times -= 1
    const { fault } = set
    if (typeof fault === 'function') return fault(command, pass)
    if (typeof fault === 'object') throw fault
    if (fault === 'hang') return new Promise(() => {})
    if (fault === 'lose-answer') await pass()
    const applied = fault === 'refuse-connection' ? 'no' : 'maybe'
    throw createError('LOCK_ENGINE_UNAVAILABLE', 'the connection broke', { applied })
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    return this.#inner.read(query)
  }

  watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    return this.#inner.watch(filter, listener)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
