import type { Outcome } from '../../law/model/outcomes.ts'
import type { Random } from '../random.ts'
import { type AcquireFields, TTL_MS } from './engine-rig.ts'
import type { RecordedClient } from './recorded-client.ts'
import { takeTurns } from './take-turns.ts'

type Mode = 'read' | 'write'
type Request = AcquireFields & { readonly key: string; readonly requestId: string }

const GRACE_MS = 1.5 * TTL_MS
const POLLS_MAX = 12

/** A client that takes, uses and leaves locks in every way there is, as its random numbers say. */
export class LockWorker {
  readonly #client: RecordedClient
  readonly #random: Random
  readonly #keys: readonly string[]
  #requests = 0
  #lives = 0

  constructor(client: RecordedClient, random: Random, keys: readonly string[]) {
    this.#client = client
    this.#random = random
    this.#keys = keys
  }

  async run(visits: number): Promise<void> {
    for (let visit = 0; visit < visits; visit += 1) {
      await this.#visit(this.#random.pick(this.#keys))
      await takeTurns(this.#random.int(0, 3))
    }
  }

  /** Who gave up a hold without releasing it, or its session, comes back under another name. */
  get #owner(): string {
    return `${this.#client.name}.${this.#lives}`
  }

  #nextId(): string {
    this.#requests += 1
    return `${this.#client.name}-${this.#requests}`
  }

  async #visit(key: string): Promise<void> {
    if (this.#random.chance(0.3)) await this.#client.check(key, 'lock')
    const session = this.#random.chance(0.2) ? this.#owner : undefined
    if (session !== undefined) await this.#client.session('open', session, GRACE_MS)
    const mode: Mode = this.#random.chance(0.6) ? 'write' : 'read'
    const fields = { key, mode, requestId: this.#nextId(), ...(session && { session }) }
    const outcome = await this.#obtain(fields)
    const held: Mode[] = outcome?.kind === 'granted' ? [mode] : []
    const uses = held.length === 0 ? 0 : this.#random.int(0, 4)
    for (let use = 0; use < uses && held.length > 0; use += 1) await this.#use(fields, held)
    await this.#leave(fields, held)
  }

  #obtain(fields: Request): Promise<Outcome | null> {
    const obtain = this.#random.weighted([
      [this.#tryOnce, 3],
      [this.#waitOpen, 4],
      [this.#waitTwice, 1],
      [this.#waitAndPoll, 3],
      [this.#waitAndCancel, 1],
      [this.#waitAndAbort, 0.5],
    ])
    return obtain.call(this, fields)
  }

  #tryOnce(fields: AcquireFields): Promise<Outcome | null> {
    return this.#client.acquire(this.#owner, fields)
  }

  #waitOpen(fields: AcquireFields): Promise<Outcome | null> {
    const waitMs = this.#random.int(1, 3) * TTL_MS
    return this.#client.acquire(this.#owner, { ...fields, waitMs })
  }

  /** The answer is slow, so the client sends its request again. */
  async #waitTwice(fields: AcquireFields): Promise<Outcome | null> {
    const waitMs = 2 * TTL_MS
    const first = tolerate(this.#client.acquire(this.#owner, { ...fields, waitMs }))
    await takeTurns(this.#random.int(0, 2))
    const [outcome] = await Promise.all([
      first,
      this.#client.acquire(this.#owner, { ...fields, waitMs }),
    ])
    return outcome
  }

  async #waitAndPoll(fields: Request): Promise<Outcome | null> {
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      const waitMs = 4 * TTL_MS
      const outcome = await this.#client.acquire(this.#owner, { ...fields, waitMs, detach: true })
      if (outcome?.kind !== 'queued') return outcome
      await takeTurns(this.#random.int(1, 3))
    }
    await this.#client.cancel(this.#owner, fields.key, fields.requestId)
    return null
  }

  async #waitAndCancel(fields: Request): Promise<Outcome | null> {
    let isOpen = true
    const call = this.#client.acquire(this.#owner, { ...fields, waitMs: 2 * TTL_MS })
    const wait = tolerate(
      call.finally(() => {
        isOpen = false
      }),
    )
    await takeTurns(this.#random.int(0, 4))
    if (!isOpen) return wait
    await this.#client.cancel(this.#owner, fields.key, fields.requestId)
    await wait
    // Even if it was told of a grant, that may have been undone: it does not know what it has.
    this.#lives += 1
    return null
  }

  async #waitAndAbort(fields: AcquireFields): Promise<Outcome | null> {
    const controller = new AbortController()
    const waitMs = 2 * TTL_MS
    const call = this.#client.acquire(this.#owner, { ...fields, waitMs }, controller.signal)
    const wait = tolerate(call)
    await takeTurns(this.#random.int(0, 4))
    controller.abort()
    return wait
  }

  async #use(fields: Request, held: Mode[]): Promise<void> {
    const { key, session } = fields
    const again = this.#random.pick<Mode>(['read', 'write'])
    switch (this.#random.pick(['enter', 'enter', 'renew', 'replay', 'check', 'beat', 'pause'])) {
      case 'enter': {
        const waitMs = this.#random.pick([0, TTL_MS])
        const requestId = this.#nextId()
        const entry = { ...fields, mode: again, requestId, waitMs }
        const outcome = await this.#client.acquire(this.#owner, entry)
        if (outcome?.kind === 'granted') held.push(again)
        break
      }
      case 'renew': {
        const outcome = await this.#client.renew(this.#owner, key, TTL_MS)
        if (outcome?.kind === 'refused') held.length = 0
        break
      }
      case 'replay':
        await this.#client.acquire(this.#owner, fields)
        break
      case 'check':
        await this.#client.check(key, 'lock')
        break
      case 'beat':
        if (session) await this.#client.session('beat', session, GRACE_MS)
        break
      default:
        await takeTurns(this.#random.int(1, 8))
    }
  }

  async #leave({ key, session }: Request, held: Mode[]): Promise<void> {
    const vanishes = this.#random.chance(0.1)
    while (!vanishes && held.length > 0) {
      const mode = held.pop()
      const namesMode = this.#random.chance(0.7) && mode !== undefined
      const requestId = this.#nextId()
      const fields = { key, requestId, ...(namesMode ? { mode } : {}) }
      await this.#client.release(this.#owner, fields)
      if (this.#random.chance(0.15)) await this.#client.release(this.#owner, fields)
    }
    if (session === undefined && !vanishes) return
    if (session !== undefined && this.#random.chance(0.7)) {
      await this.#client.session('end', session, GRACE_MS)
    } else if (this.#random.chance(0.5)) {
      await this.#client.force(this.#owner, key)
    }
    this.#lives += 1
  }
}

/** A call that may fail before anyone waits for it. Whoever does so later still learns of it. */
function tolerate<Answer>(call: Promise<Answer>): Promise<Answer> {
  call.catch(() => {})
  return call
}
