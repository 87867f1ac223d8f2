import type { LockEngine } from '../../engine/engine.ts'
import type { ListQuery, ListReply } from '../../engine/queries.ts'
import { nextTurn } from '../../time/turn.ts'

/**
 * The lists of all clients, one page after the other. An engine in this process looks at every key for a page,
 * so other clients are answered between two of them, however many lists are asked for.
 */
export class ListTurns {
  readonly #engine: LockEngine
  #last: Promise<void> = Promise.resolve()

  constructor(engine: LockEngine) {
    this.#engine = engine
  }

  list(query: ListQuery): Promise<ListReply> {
    const reply = this.#last.then(() => this.#engine.read(query))
    this.#last = reply.then(nextTurn, nextTurn)
    return reply
  }
}
