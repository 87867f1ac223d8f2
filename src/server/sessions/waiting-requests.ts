import type { LockEngine } from '../../engine/engine.ts'
import type { CancelReason, Command } from '../../law/commands.ts'
import { IdTable } from '../../protocol/session/id-table.ts'
import type { WaitingCommand } from './outbox.ts'

export interface WaitingRequest {
  readonly id: number
  readonly command: WaitingCommand
  /** Only for those who said that they may abort: most never do. */
  readonly controller: AbortController | undefined
}

/** The requests of one session that are held open while they wait. */
export class WaitingRequests {
  readonly #engine: LockEngine
  readonly #requests = new IdTable<WaitingRequest>()

  constructor(engine: LockEngine) {
    this.#engine = engine
  }

  add(request: WaitingRequest): void {
    this.#requests.add(request)
  }

  /** Harmless for one that never had to wait. */
  delete(id: number): void {
    this.#requests.take(id)
  }

  /** A request that is no longer open has been answered, and its client will see that. */
  abort(id: number): void {
    this.#requests.get(id)?.controller?.abort(new Error('the client gave up'))
  }

  /** Give up every place. */
  async withdrawAll(reason: CancelReason): Promise<void> {
    const requests = this.#requests.sorted()
    this.#requests.clear()
    await Promise.all(requests.map(({ command }) => this.withdraw(command, reason)))
  }

  /** Leaves the queue, and undoes a grant that nobody heard of. Never rejects. */
  async withdraw(command: WaitingCommand, reason: CancelReason): Promise<void> {
    try {
      if (command.kind === 'acquire') {
        const { key, owner, requestId } = command
        await this.#engine.apply({ kind: 'cancel', key, owner, requestId, reason })
      } else {
        const { type, resource, node } = command
        await this.#engine.apply({ kind: 'withdraw', type, resource, node, reason })
      }
    } catch {
      // The engine is failing or closed: the lease of the waiter or of the grant ends it.
    }
  }
}

export function mayWait(command: Command): command is WaitingCommand {
  if (command.kind === 'acquire') return (command.waitMs ?? 0) > 0 && command.detach !== true
  return command.kind === 'begin' && (command.waitMs ?? 0) > 0
}
