import type { LockEngine } from '../../engine/engine.ts'
import type { ListQuery, ListReply } from '../../engine/queries.ts'

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
    this.#last = reply.then(turn, turn)
    return reply
  }
}

/** Resolves when everything that has arrived meanwhile was looked at. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
