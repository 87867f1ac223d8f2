import { isLockError } from '../../../engine/errors/errors.ts'
import { createLocks } from '../../../locks/create-locks.ts'
import type { LockHandle } from '../../../locks/lease/lock-handle.ts'
import type { Locks } from '../../../locks/locks.ts'
import { type Client, type ClientContext, sleep } from './client-context.ts'

/** What the library may say to somebody who did nothing wrong. */
const ORDINARY_CODES: ReadonlySet<string> = new Set([
  'LOCK_WAIT_TIMEOUT',
  'LOCK_ABORTED',
  'LOCK_LOST',
  'LOCK_NOT_HOLDER',
  'LOCK_STALE_TOKEN',
  'LOCK_UPGRADE_CONFLICT',
  'LOCK_DEADLOCK',
  'LOCK_IN_USE',
  'LOCK_HELD',
  'LOCK_REQUEST_ENDED',
  'LOCK_ENGINE_UNAVAILABLE',
])

/** What may still follow from the faults, or from what others left, once they are over. */
const AFTERMATH_CODES: ReadonlySet<string> = new Set([
  'LOCK_ABORTED',
  'LOCK_LOST',
  'LOCK_DEADLOCK',
  'LOCK_HELD',
  'LOCK_REQUEST_ENDED',
  'LOCK_ENGINE_UNAVAILABLE',
])

/** Uses the library, as an application would. */
export const runSdkClient: Client = async (context) => {
  const { engine, clock, random, name, id, workload } = context
  const locks = createLocks(engine, {
    ...{ clock, owner: id, node: name, ttl: random.pick(workload.ttlsMs) },
    random: () => random.float(),
  })
  const client = new SdkClient(context, locks)
  while (!context.isHealed()) {
    await sleep(context, random.int(0, workload.thinkMsMax))
    await client.tolerate(() => client.doOne())
  }
  await client.proveProgress()
  await locks.close()
}

class SdkClient {
  readonly #context: ClientContext
  readonly #locks: Locks

  constructor(context: ClientContext, locks: Locks) {
    this.#context = context
    this.#locks = locks
  }

  /** Faults lead to errors; only those that the library may give. */
  async tolerate(deed: () => Promise<void>): Promise<void> {
    try {
      await deed()
    } catch (error) {
      if (!isLockError(error) || !ORDINARY_CODES.has(error.code)) throw error
    }
  }

  async doOne(): Promise<void> {
    const { random } = this.#context
    const deed = random.weighted([
      [this.#withLock, 5],
      [this.#acquire, 4],
      [this.#changeModes, 4],
      [this.#tryAcquire, 2],
      [this.#acquireAll, 1],
      [this.#once, 3],
      [this.#operate, 3],
      [this.#giveUp, 2],
    ])
    await deed.call(this)
  }

  /** Everything works for everyone, and what was pulled is let go. */
  async proveProgress(): Promise<void> {
    const { workload, random } = this.#context
    for (const key of random.shuffle(workload.keys)) {
      await this.#untilReached(() => this.#locks.withLock(key, async (lock) => this.#use(lock)))
    }
    for (const resource of workload.resources) {
      const version = random.pick(['a', 'b', 'c'])
      await this.#untilReached(() => this.#locks.once(resource, () => version, { version }))
    }
    await this.#untilReached(() => this.#locks.unref())
  }

  async #untilReached(deed: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await deed()
        return
      } catch (error) {
        if (!isLockError(error) || !AFTERMATH_CODES.has(error.code)) throw error
      }
      await sleep(this.#context, 100)
    }
  }

  #key(): string {
    return this.#context.random.pick(this.#context.workload.keys)
  }

  #ttl(): number {
    return this.#context.random.pick(this.#context.workload.ttlsMs)
  }

  #wait(): number | undefined {
    const { random } = this.#context
    return random.pick([undefined, random.int(1, 3_000)])
  }

  /** Rely on a lock for a while, and change what it protects. */
  async #use(lock: LockHandle): Promise<void> {
    const { random, beliefs, process, register } = this.#context
    const { signal, token, key } = lock
    const forget = beliefs.add({ lock, process, signal })
    const value = lock.mode === 'write' ? register.read(key, token) : undefined
    await sleep(this.#context, random.int(0, 500))
    const isCareless = random.chance(0.2)
    if (value !== undefined && (!signal.aborted || isCareless)) {
      register.write(key, token, value + 1)
    }
    forget()
  }

  async #withLock(): Promise<void> {
    const { random } = this.#context
    const [key, ttl, wait] = [this.#key(), this.#ttl(), this.#wait()]
    const mode = random.pick(['read', 'write'] as const)
    await this.#locks.withLock(key, { ttl, wait, mode }, async (lock) => {
      await this.#use(lock)
      if (!random.chance(0.2)) return
      const inner = { ttl, wait: random.int(0, 800) }
      await this.#locks.withLock(this.#key(), inner, async (other) => this.#use(other))
    })
  }

  async #acquire(): Promise<void> {
    const { random } = this.#context
    const renew = random.chance(0.8)
    await using lock = await this.#locks.acquire(this.#key(), {
      ...{ ttl: this.#ttl(), wait: this.#wait(), mode: random.pick(['read', 'write']), renew },
    })
    await this.#use(lock)
    if (random.chance(0.2)) await lock.renew()
    if (random.chance(0.1)) lock.detach()
    else await lock.release()
  }

  async #changeModes(): Promise<void> {
    const { random } = this.#context
    const mode = random.pick(['read', 'write'] as const)
    const options = { ttl: this.#ttl(), wait: this.#wait(), mode }
    await using lock = await this.#locks.acquire(this.#key(), options)
    await this.#use(lock)
    for (let changes = random.int(1, 3); changes > 0; changes -= 1) {
      if (lock.mode === 'read') await lock.upgrade({ wait: random.int(0, 1_500) })
      else await lock.downgrade()
      await this.#use(lock)
    }
  }

  async #tryAcquire(): Promise<void> {
    const lock = await this.#locks.tryAcquire(this.#key(), { ttl: this.#ttl() })
    if (lock === null) return
    await this.#use(lock)
    await lock.release()
    await lock.release()
  }

  async #acquireAll(): Promise<void> {
    const { workload } = this.#context
    const options = { ttl: this.#ttl(), wait: this.#wait() }
    await using set = await this.#locks.acquireAll(workload.keys.slice(0, 2), options)
    for (const lock of set.locks) await this.#use(lock)
  }

  async #once(): Promise<void> {
    const { random, workload, id } = this.#context
    const version = random.pick([undefined, '1', '2'])
    const options = { ttl: this.#ttl(), wait: this.#wait(), version }
    await this.#locks.once(
      random.pick(workload.resources),
      async () => {
        await sleep(this.#context, random.int(0, 300))
        return { by: id }
      },
      options,
    )
  }

  async #operate(): Promise<void> {
    const { random, workload } = this.#context
    const resource = random.pick(workload.resources)
    if (random.chance(0.3)) await this.#locks.unref({ resource })
    const options = { ttl: this.#ttl(), wait: random.int(1, 3_000) }
    const begun = await this.#locks.begin(random.pick(workload.types), resource, options)
    if (begun.kind !== 'acquired') return
    await using operation = begun.operation
    await sleep(this.#context, random.int(0, 400))
    if (random.chance(0.8)) await operation.finish({ success: true, value: { resource } })
    else if (random.chance(0.5)) await operation.finish({ success: false, error: 'no luck' })
  }

  /** Waits without end, until its own signal ends it. */
  async #giveUp(): Promise<void> {
    const { clock, random } = this.#context
    const giveUp = new AbortController()
    const timer = clock.setTimer(random.int(0, 1_000), () => giveUp.abort())
    try {
      const options = { ttl: this.#ttl(), signal: giveUp.signal }
      await this.#locks.withLock(this.#key(), options, async (lock) => this.#use(lock))
    } finally {
      timer.cancel()
    }
  }
}
