import type { Acquire, Release } from '../../../law/model/commands.ts'
import type { Mode } from '../../../law/model/view.ts'
import { CROWDED_KEY } from '../simulation-plan.ts'
import { type Client, type ClientContext, sleep } from './client-context.ts'
import { insist } from './insist.ts'

/** How much of its lease a client trusts, counted on its own clock from when it asked. */
const TRUSTED_RATIO = 0.98

interface Held {
  readonly request: Acquire
  readonly sentAtMs: number
  /** Changes when it becomes a writer. */
  token: number
}

/** Uses locks by the commands of the engine itself, in every way that these allow. */
export const runLockClient: Client = async (context) => {
  const client = new LockClient(context, () => undefined)
  while (!context.isHealed()) {
    await sleep(context, context.random.int(0, context.workload.thinkMsMax))
    await client.useOne()
  }
  await client.proveProgress()
}

/** One user of locks; with a session if there is one at the time. */
export class LockClient {
  readonly #context: ClientContext
  readonly #session: () => string | undefined
  /** A new owner for every use: what became of the last one may not be known. */
  #owners = 0
  #requests = 0
  #last: Acquire | undefined
  #mayHold = false

  constructor(context: ClientContext, session: () => string | undefined) {
    this.#context = context
    this.#session = session
  }

  /** Whether the last use may have left something behind that only the end of its lease will end. */
  get mayHold(): boolean {
    return this.#mayHold
  }

  async useOne(): Promise<void> {
    this.#mayHold = false
    const { random, workload, engine } = this.#context
    const deed = random.weighted([
      ['use', 10],
      ['inspect', 2],
      ['replay', 1],
      ['abandon', 1],
      ['crowd', 2],
    ])
    const key = random.pick(workload.keys)
    if (deed === 'use') await this.#use(key)
    else if (deed === 'crowd') await this.#crowd()
    else if (deed === 'inspect') await engine.read({ kind: 'inspect', key }).catch(() => undefined)
    else if (deed === 'replay') await this.#replay()
    else await this.#abandon(key)
  }

  /** Every key can be had by everyone, for writing, in turn. What is left of earlier has to end first. */
  async proveProgress(prepare: () => Promise<void> = async () => {}): Promise<void> {
    const { workload, random } = this.#context
    for (const key of random.shuffle(workload.keys)) {
      for (let isDone = false; !isDone; ) {
        await prepare()
        isDone = await this.#useOnce(key)
        if (!isDone) await sleep(this.#context, 100)
      }
    }
  }

  async #useOnce(key: string): Promise<boolean> {
    this.#owners += 1
    const request = this.#request(key, 'write', { waitMs: Infinity })
    const outcome = await insist(this.#context, request)
    if (outcome?.kind !== 'granted') return false
    await this.#release(request, outcome.token)
    return true
  }

  async #use(key: string): Promise<void> {
    const { random } = this.#context
    this.#owners += 1
    const mode = random.pick(['read', 'write'] as const)
    const held = await this.#acquire(key, mode)
    if (held === undefined) return
    await this.#work(held)
    const further = random.weighted([
      [undefined, 5],
      [this.#enterAgain, 2],
      [this.#upgrade, mode === 'read' ? 4 : 0],
    ])
    // Without knowing what it holds it cannot give it back: then its lease has to run out.
    this.#mayHold = true
    if (further !== undefined) {
      this.#last = undefined
      if (!(await further.call(this, held))) return
    }
    // Now and then the lease is left to run out, or the wrong token is shown first.
    if (random.chance(0.1)) return
    if (random.chance(0.1)) await this.#showWrongToken(held.request)
    this.#mayHold = !(await this.#release(held.request, held.token))
    if (random.chance(0.1)) await this.#release(held.request, held.token)
  }

  async #acquire(key: string, mode: Mode): Promise<Held | undefined> {
    const { random, clock } = this.#context
    const manner = random.weighted([
      [{ waitMs: 0 }, 2],
      [{ waitMs: random.int(1, 3_000) }, 3],
      [{ waitMs: Infinity }, 2],
      [{ waitMs: random.int(100, 5_000), detach: true }, 3],
    ])
    const request = this.#request(key, mode, manner)
    for (;;) {
      const sentAtMs = clock.nowMs()
      const outcome = await insist(this.#context, request)
      if (outcome === undefined) {
        this.#mayHold = true
        if (random.chance(0.7)) await this.#cancel(request)
        return undefined
      }
      if (outcome.kind === 'granted') {
        this.#last = request
        return { request, token: outcome.token, sentAtMs }
      }
      if (outcome.kind === 'refused') return undefined
      if (random.chance(0.1)) {
        await this.#cancel(request)
        return undefined
      }
      await sleep(this.#context, random.int(1, 400))
    }
  }

  /** Hold it for a while, renewing now and then, and change what it protects. */
  async #work({ request, token, sentAtMs }: Held): Promise<void> {
    const { random, clock, register } = this.#context
    const { key, owner, ttlMs = 0 } = request
    let trustedUntilMs = sentAtMs + ttlMs * TRUSTED_RATIO
    const value = request.mode === 'write' ? register.read(key, token) : undefined
    for (let turns = random.int(1, 3); turns > 0; turns -= 1) {
      await sleep(this.#context, random.int(0, 300))
      if (random.chance(0.5)) continue
      const renewedAtMs = clock.nowMs()
      const renewed = await insist(this.#context, { kind: 'renew', key, owner, ttlMs, token })
      if (renewed?.kind === 'refused') return
      if (renewed !== undefined) trustedUntilMs = renewedAtMs + ttlMs * TRUSTED_RATIO
    }
    // A client that has overslept does not look at its clock: the token has to stop it.
    const isCareless = random.chance(0.3)
    const isTrusted = clock.nowMs() < trustedUntilMs || isCareless
    if (value !== undefined && isTrusted) register.write(key, token, value + 1)
  }

  async #enterAgain(held: Held): Promise<boolean> {
    const { key, mode = 'write' } = held.request
    const { random } = this.#context
    return this.#takeStep(held, this.#request(key, random.pick([mode, 'read']), { waitMs: 0 }))
  }

  async #upgrade(held: Held): Promise<boolean> {
    const waitMs = this.#context.random.int(0, 1_500)
    return this.#takeStep(held, this.#request(held.request.key, 'write', { waitMs }))
  }

  /** One more step of the hold and back again; false when it is not known what became of it. */
  async #takeStep(held: Held, request: Acquire): Promise<boolean> {
    const outcome = await insist(this.#context, request)
    if (outcome?.kind !== 'granted') return outcome !== undefined
    held.token = outcome.token
    await sleep(this.#context, this.#context.random.int(0, 200))
    return this.#release(request, held.token)
  }

  async #cancel({ key, owner, requestId }: Acquire): Promise<void> {
    await insist(this.#context, { kind: 'cancel', key, owner, requestId })
  }

  /** False when the step may still be there. */
  async #release({ key, owner, requestId, mode }: Acquire, token: number): Promise<boolean> {
    const release: Release = { kind: 'release', key, owner, mode, token }
    const outcome = await insist(this.#context, { ...release, requestId: `${requestId}-end` })
    if (outcome?.kind === 'released') return true
    return outcome?.kind === 'refused' && outcome.code === 'not_holder'
  }

  async #showWrongToken({ key, owner, requestId }: Acquire): Promise<void> {
    const release: Release = { kind: 'release', key, owner, token: 0 }
    await insist(this.#context, { ...release, requestId: `${requestId}-wrong` })
  }

  /** Asks again for what is long over; whatever it is told, it must not get it a second time. */
  async #replay(): Promise<void> {
    if (this.#last === undefined) return
    await insist(this.#context, { ...this.#last, waitMs: 0, detach: undefined })
  }

  /** Joins a queue and is never heard of again. */
  async #abandon(key: string): Promise<void> {
    this.#mayHold = true
    this.#owners += 1
    const request = this.#request(key, 'write', { waitMs: Infinity, detach: true })
    await insist(this.#context, request, 1)
  }

  /** Asks several times at once, in the name of an owner that others use too. */
  async #crowd(): Promise<void> {
    const { random, id } = this.#context
    const owner = random.pick(['shared-1', 'shared-2'])
    const ask = async (number: number): Promise<void> => {
      const mode = random.pick(['read', 'write'] as const)
      const manner = random.pick([{ waitMs: 0 }, { waitMs: 500 }, { waitMs: 900, detach: true }])
      const named = { owner, requestId: `${id}-${this.#requests}-${number}`, session: undefined }
      const request = { ...this.#request(CROWDED_KEY, mode, manner), ...named }
      const outcome = await insist(this.#context, request, 2)
      await sleep(this.#context, random.int(0, 300))
      if (outcome?.kind === 'granted') await this.#release(request, outcome.token)
    }
    await Promise.all([1, 2, 3].slice(random.int(0, 1)).map(ask))
  }

  #request(key: string, mode: Mode, manner: Pick<Acquire, 'waitMs' | 'detach'>): Acquire {
    const { id, random, workload } = this.#context
    this.#requests += 1
    return {
      kind: 'acquire',
      key,
      mode,
      owner: `${id}-${this.#owners}`,
      requestId: `q${this.#requests}`,
      ttlMs: random.pick(workload.ttlsMs),
      lane: workload.lanes.length === 0 ? undefined : random.pick([undefined, ...workload.lanes]),
      session: this.#session(),
      ...manner,
    }
  }
}
