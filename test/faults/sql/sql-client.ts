import { setTimeout as rest } from 'node:timers/promises'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { isLockError } from '../../../src/engine/errors/errors.ts'
import type { Acquire, Command } from '../../../src/law/model/commands.ts'
import type { OutcomeOf } from '../../../src/law/model/outcomes.ts'
import type { HistoryRecorder } from '../../../src/testing/history-recorder.ts'
import type { Random } from '../../../src/testing/random.ts'
import { RecordedEngine } from '../../../src/testing/simulator/recorded-engine.ts'
import type { HostClock } from '../server/server-host-clock.ts'

export interface SqlClientParts {
  readonly name: string
  readonly engine: LockEngine
  readonly recorder: HistoryRecorder
  readonly clock: HostClock
  readonly random: Random
  readonly ttlMs: number
  readonly pickKey: (random: Random, space: 'lock' | 'operation') => string
  readonly isOver: () => boolean
  /** Told of every call that failed instead of being answered. */
  readonly onFailure: (command: Command, error: unknown) => void
}

const WAIT_MS = 20_000
const ASK_AGAIN_MS = 50
/** A database that is away for longer has not come back. */
const PATIENCE_MS = 90_000

/** The process that the client's engine lived in is gone, and the client with it. */
class Gone extends Error {}

/** One client of a database: turn by turn it takes a lock or runs an operation, as chance will have it. */
export class SqlClient {
  readonly #parts: SqlClientParts
  readonly #engine: RecordedEngine
  readonly #random: Random
  #turns = 0
  #isAsking = false

  constructor(parts: SqlClientParts) {
    const { name: proc, engine, recorder, clock } = parts
    this.#parts = parts
    this.#random = parts.random
    this.#engine = new RecordedEngine({ proc, engine, recorder, clock })
  }

  /** Whether it waits for an answer. */
  get isAsking(): boolean {
    return this.#isAsking
  }

  get answered(): number {
    return this.#engine.answered
  }

  async work(): Promise<void> {
    try {
      while (!this.#parts.isOver()) {
        this.#turns += 1
        if (this.#random.chance(0.25)) await this.#operate()
        else await this.#lock()
        await rest(this.#random.int(0, 20))
      }
    } catch (error) {
      if (!(error instanceof Gone)) throw error
    }
  }

  /** Whether a lock can be had and given back, when all faults are over. */
  async isServed(): Promise<boolean> {
    this.#turns += 1
    const asked = this.#toAcquire({ mode: 'write', waitMs: 2 * WAIT_MS })
    const outcome = await this.#insist(asked)
    if (outcome.kind !== 'granted') return false
    await this.#release(asked, outcome.token)
    return true
  }

  async #lock(): Promise<void> {
    const mode = this.#random.chance(0.4) ? 'read' : 'write'
    const waitMs = this.#random.pick([0, 300, WAIT_MS, WAIT_MS])
    const asked = this.#toAcquire({ mode, waitMs })
    const outcome = await this.#insist(asked)
    if (outcome.kind !== 'granted') return
    await rest(this.#random.int(0, 15))
    const { key, owner } = asked
    const { ttlMs } = this.#parts
    const { token } = outcome
    if (this.#random.chance(0.2)) await this.#insist({ kind: 'renew', key, owner, ttlMs, token })
    if (this.#random.chance(0.1)) await this.#look(key)
    await this.#release(asked, token)
  }

  async #release({ key, owner, mode }: Acquire, token: number): Promise<void> {
    await this.#insist({ kind: 'release', key, owner, mode, token, requestId: 'r' })
  }

  async #operate(): Promise<void> {
    const { name, ttlMs, pickKey } = this.#parts
    const resource = pickKey(this.#random, 'operation')
    const type = this.#random.pick(['pull', 'pull', 'update', 'delete'])
    // A node of its own for every turn: to the checks, a node that asks again goes on with its request.
    const node = `${name}-${this.#turns}`
    const waitMs = this.#random.pick([0, 2_000])
    const begin = { kind: 'begin', type, resource, node, ttlMs, waitMs, requestId: '1' } as const
    const outcome = await this.#insist(begin)
    if (outcome.kind === 'granted') {
      await rest(this.#random.int(0, 15))
      const success = this.#random.chance(0.7)
      const { token } = outcome
      await this.#insist({ kind: 'finish', type, resource, node, success, token, requestId: 'f' })
    } else if (outcome.kind === 'queued') {
      const owner = `${type}:${node}`
      await this.#insist({ kind: 'cancel', namespace: 'operation', key: resource, owner })
    }
    if (type === 'pull') await this.#insist({ kind: 'unref', node, resource })
  }

  #toAcquire(fields: Pick<Acquire, 'mode' | 'waitMs'>): Acquire {
    const { name, ttlMs, pickKey } = this.#parts
    const key = pickKey(this.#random, 'lock')
    const owner = `${name}-${this.#turns}`
    return { kind: 'acquire', key, owner, requestId: '1', ttlMs, ...fields }
  }

  async #look(key: string): Promise<void> {
    const query = { kind: 'inspect', key, queueLimit: 1_000 } as const
    await this.#engine.read(query).catch((error: unknown) => mustBeLockError(error))
  }

  /** The same request again, until somebody says what became of it. */
  async #insist<C extends Command>(command: C): Promise<OutcomeOf<C>> {
    const { clock, onFailure } = this.#parts
    const startedAtMs = clock.nowMs()
    for (;;) {
      this.#isAsking = true
      try {
        return await this.#engine.apply(command)
      } catch (error) {
        mustBeLockError(error)
        onFailure(command, error)
        if (clock.nowMs() - startedAtMs > PATIENCE_MS) throw error
      } finally {
        this.#isAsking = false
      }
      await rest(ASK_AGAIN_MS)
    }
  }
}

function mustBeLockError(error: unknown): void {
  if (isLockError(error)) return
  if (error instanceof Error && error.message === 'the process has ended') throw new Gone()
  throw error
}
