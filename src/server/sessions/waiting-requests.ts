import type { LockEngine } from '../../engine/engine.ts'
import type { CancelReason } from '../../law/commands.ts'
import type { WaitingCommand } from '../../engine/waits/waiting-command.ts'
import { IdTable } from '../../protocol/session/id-table.ts'
import { withdraw } from '../waiting/withdraw.ts'

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

  get size(): number {
    return this.#requests.size
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
    await Promise.all(requests.map(({ command }) => withdraw(this.#engine, command, reason)))
  }
}
