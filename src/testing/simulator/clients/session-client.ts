import { type Client, type ClientContext, sleep } from './client-context.ts'
import { insist } from './insist.ts'
import { LockClient } from './lock-client.ts'

/** Uses locks inside a session, which keeps them as long as it is heard of. */
export const runSessionClient: Client = async (context) => {
  const session = new ClientSession(context)
  const client = new LockClient(context, () => session.id)
  while (!context.isHealed()) {
    await session.open()
    await sleep(context, context.random.int(0, context.workload.thinkMsMax))
    await client.useOne()
    // A session keeps everything, also what its client has lost sight of.
    if (client.mayHold || context.random.chance(0.05)) await session.close()
  }
  await session.close()
  await client.proveProgress(() => session.open())
  await session.close()
}

class ClientSession {
  readonly #context: ClientContext
  readonly #graceMs: number
  readonly #keepsLeases: boolean
  #opened = 0
  #id: string | undefined

  constructor(context: ClientContext) {
    this.#context = context
    this.#graceMs = context.random.pick([400, 1_000, 3_000])
    this.#keepsLeases = context.random.chance(0.8)
  }

  /** Of the session that is open, as far as the client knows. */
  get id(): string | undefined {
    return this.#id
  }

  async open(): Promise<void> {
    while (this.#id === undefined) {
      this.#opened += 1
      const session = `${this.#context.id}/s${this.#opened}`
      const graceMs = this.#graceMs
      const keepsLeases = this.#keepsLeases
      const opened = await insist(this.#context, {
        kind: 'open-session',
        session,
        graceMs,
        keepsLeases,
      })
      if (opened?.kind !== 'session-opened') continue
      this.#id = session
      void this.#keepAlive(session)
    }
  }

  async close(): Promise<void> {
    const session = this.#id
    if (session === undefined) return
    this.#id = undefined
    await insist(this.#context, { kind: 'close-session', session })
  }

  /** A heartbeat that is not answered is simply followed by the next. */
  async #keepAlive(session: string): Promise<void> {
    while (this.#id === session) {
      await sleep(this.#context, this.#graceMs / 3)
      if (this.#id !== session) return
      const heard = await insist(this.#context, { kind: 'touch-session', session }, 1)
      if (heard?.kind === 'refused' && this.#id === session) this.#id = undefined
    }
  }
}
