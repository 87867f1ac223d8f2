import { setTimeout as rest } from 'node:timers/promises'
import type { LockEngine, SessionLoss } from '../../../src/engine/engine.ts'
import type { Acquire, Command } from '../../../src/law/model/commands.ts'
import type { Granted, OutcomeOf } from '../../../src/law/model/outcomes.ts'
import type { HistoryEntry } from '../../../src/testing/history.ts'
import type { HistoryRecorder } from '../../../src/testing/history-recorder.ts'
import type { Random } from '../../../src/testing/random.ts'
import { RecordedEngine } from '../../../src/testing/simulator/recorded-engine.ts'
import type { HostClock } from './server-host-clock.ts'
import type { LoadNotes } from './server-load-notes.ts'

export interface LoadClientParts {
  readonly name: string
  readonly engine: LockEngine
  readonly recorder: HistoryRecorder
  readonly clock: HostClock
  readonly notes: LoadNotes
  readonly random: Random
  readonly pickKey: (random: Random) => string
  readonly pickResource: (random: Random) => string
  readonly restMsMax: number
  readonly waitMs: number
  readonly ttlMs: number
  readonly isOver: () => boolean
}

/** Of a hold that its owner walks away from. */
const SHORT_TTL_MS = 1_000
const POLLS_MAX = 60
/** Said of what its owner does not want any more, whatever it is told of it. */
export const GIVEN_UP = 'given up'
const ATTEMPTS_MAX = 50

interface Held {
  readonly space: 'lock' | 'operation'
  readonly key: string
  readonly owner: string
  readonly inSession: boolean
  readonly token: number
  /** It is being given back. */
  isLeft: boolean
}

/** One client of a server: turn by turn it takes a lock or runs an operation, as chance will have it. */
export class LoadClient {
  /** The heartbeats that count, in the words of a history. */
  readonly beats: HistoryEntry[] = []
  readonly #parts: LoadClientParts
  readonly #engine: RecordedEngine
  readonly #random: Random
  #turns = 0
  #held: Held | undefined
  #confirmedAtMs = -Infinity
  #latestCallMs = 0

  constructor(parts: LoadClientParts) {
    const { name: proc, engine, recorder, clock } = parts
    this.#parts = parts
    this.#random = parts.random
    this.#engine = new RecordedEngine({ proc, engine, recorder, clock })
    engine.session?.onLoss((loss) => this.#lose(loss))
    this.noteLife()
  }

  get answered(): number {
    return this.#engine.answered
  }

  /** When the latest one began of those calls that went well. */
  get latestCallMs(): number {
    return this.#latestCallMs
  }

  async work(): Promise<void> {
    const { isOver, restMsMax } = this.#parts
    while (!isOver()) {
      await rest(this.#random.int(0, restMsMax))
      this.#turns += 1
      if (this.#random.chance(0.2)) await this.#operate()
      else await this.#lock()
    }
  }

  /** Whether a lock can be had and given back, when all faults are over. */
  async isServed(): Promise<boolean> {
    this.#turns += 1
    const key = this.#parts.pickKey(this.#random)
    const asked = this.#toAcquire(key, { mode: 'write', waitMs: this.#parts.waitMs })
    const granted = await this.#obtain(asked)
    if (granted === undefined) return false
    await this.#release(asked, granted.token)
    return true
  }

  async leave(): Promise<void> {
    this.noteLife()
    await this.#engine.close()
  }

  /** What keeps the holds of its session alive belongs into the history. */
  noteLife(): void {
    const { name: proc, engine, clock } = this.#parts
    const { session } = engine
    if (session === undefined || session.confirmedAtMs <= this.#confirmedAtMs) return
    this.#confirmedAtMs = session.confirmedAtMs
    this.beats.push({
      kind: 'op',
      id: this.beats.length,
      proc,
      op: 'session',
      action: this.beats.length === 0 ? 'open' : 'beat',
      session: session.id,
      call: this.#confirmedAtMs,
      ret: clock.nowMs(),
      outcome: 'ok',
    })
  }

  async #lock(): Promise<void> {
    const key = this.#parts.pickKey(this.#random)
    if (this.#random.chance(0.05)) await this.#look(key)
    const mode = this.#random.chance(0.4) ? 'read' : 'write'
    const vanishes = this.#random.chance(0.05)
    const asked = this.#toAcquire(key, {
      mode,
      ...(vanishes && { ttlMs: SHORT_TTL_MS, session: undefined }),
    })
    const granted = await this.#take(asked)
    if (granted === undefined) return
    if (vanishes) {
      this.#held = undefined
      return
    }
    const { token, isUpgraded } = await this.#use(asked, granted)
    if (isUpgraded) await this.#insist(this.#toRelease({ ...asked, mode: 'write' }, token, 'r0'))
    await this.#release(asked, token)
  }

  #take(asked: Acquire): Promise<Granted | undefined> {
    const take = this.#random.weighted([
      [this.#wait, 6],
      [this.#obtain, 2],
      [this.#waitShortly, 1],
      [this.#poll, 2],
      [this.#waitAndAbort, 2],
    ])
    return take.call(this, asked)
  }

  #wait(asked: Acquire): Promise<Granted | undefined> {
    return this.#obtain({ ...asked, waitMs: this.#parts.waitMs })
  }

  #waitShortly(asked: Acquire): Promise<Granted | undefined> {
    return this.#obtain({ ...asked, waitMs: this.#random.int(1, 300) })
  }

  async #poll(asked: Acquire): Promise<Granted | undefined> {
    const { session: _, ...detached } = { ...asked, waitMs: this.#parts.waitMs, detach: true }
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      const outcome = await this.#ask(detached)
      if (outcome?.kind === 'granted') return this.#hold(detached, outcome)
      if (outcome !== undefined && outcome.kind !== 'queued') return undefined
      await rest(this.#random.int(20, 120))
    }
    const { key, owner, requestId } = asked
    await this.#insist({ kind: 'cancel', key, owner, requestId })
    return undefined
  }

  async #waitAndAbort(asked: Acquire): Promise<Granted | undefined> {
    const controller = new AbortController()
    let isAnswered = false
    const call = this.#obtain({ ...asked, waitMs: this.#parts.waitMs }, controller.signal).finally(
      () => {
        isAnswered = true
      },
    )
    await rest(this.#random.int(0, 200))
    // Whoever has its answer has nothing to give up, and goes on with what it was told.
    if (isAnswered) return call
    controller.abort()
    const { key, owner } = asked
    this.#parts.recorder.mark('lost', { space: 'lock', key, owner, detail: GIVEN_UP })
    return call
  }

  /** What one does while one has it. Returns the token that it has in the end. */
  async #use(asked: Acquire, { token }: Granted): Promise<{ token: number; isUpgraded: boolean }> {
    const { key, owner, mode } = asked
    const kept = { token, isUpgraded: false }
    await rest(this.#random.int(0, 60))
    switch (this.#random.pick(['renew', 'replay', 'look', 'upgrade', 'rest', 'rest', 'rest'])) {
      case 'renew':
        await this.#ask({ kind: 'renew', key, owner, ttlMs: this.#parts.ttlMs, token })
        break
      case 'replay':
        await this.#ask(asked)
        break
      case 'look':
        await this.#look(key)
        break
      case 'upgrade': {
        if (mode !== 'read') break
        const upgrade = { ...asked, mode: 'write', requestId: '2', waitMs: 100 } as const
        const outcome = await this.#obtain(upgrade)
        if (outcome !== undefined) return { token: outcome.token, isUpgraded: true }
        break
      }
      default:
    }
    return kept
  }

  async #release(asked: Acquire, token: number): Promise<void> {
    if (this.#held !== undefined) this.#held.isLeft = true
    await this.#insist(this.#toRelease(asked, token, 'r'))
    // Not before: whoever is told meanwhile that it lost it says so.
    this.#held = undefined
  }

  #toRelease(asked: Acquire, token: number, requestId: string): Command {
    const { key, owner, mode } = asked
    const given = { kind: 'release', key, owner, mode, token } as const
    return this.#random.chance(0.2) ? given : { ...given, requestId }
  }

  async #operate(): Promise<void> {
    const { name, pickResource } = this.#parts
    const resource = pickResource(this.#random)
    const type = this.#random.pick(['pull', 'pull', 'update', 'delete', 'delete'])
    // A node of its own for every turn: to the checks, a node that asks again goes on with its request.
    const node = `${name}-${this.#turns}`
    const session = this.#pickSession()
    const waitMs = this.#random.pick([0, 5_000])
    const { ttlMs } = this.#parts
    const begin = { kind: 'begin', type, resource, node, session, ttlMs, waitMs } as const
    const outcome = await this.#ask(begin)
    if (outcome?.kind === 'granted') {
      const { token } = outcome
      const owner = `${type}:${node}`
      const inSession = session !== undefined
      this.#held = { space: 'operation', key: resource, owner, inSession, token, isLeft: false }
      await rest(this.#random.int(0, 40))
      const success = this.#random.chance(0.7)
      if (this.#held !== undefined) this.#held.isLeft = true
      await this.#insist({ kind: 'finish', type, resource, node, success, token, requestId: 'f' })
      this.#held = undefined
    } else if (outcome === undefined || outcome.kind === 'queued') {
      const owner = `${type}:${node}`
      await this.#insist({ kind: 'cancel', namespace: 'operation', key: resource, owner })
    }
    if (type === 'pull') await this.#insist({ kind: 'unref', node, resource })
  }

  #toAcquire(key: string, fields: Partial<Acquire>): Acquire {
    const owner = `${this.#parts.name}-${this.#turns}`
    const session = this.#pickSession()
    const { ttlMs } = this.#parts
    return { kind: 'acquire', key, owner, requestId: '1', ttlMs, session, ...fields }
  }

  #pickSession(): string | undefined {
    return this.#random.chance(0.6) ? this.#parts.engine.session?.id : undefined
  }

  async #obtain(asked: Acquire, signal?: AbortSignal): Promise<Granted | undefined> {
    const outcome = await this.#ask(asked, signal)
    if (outcome?.kind !== 'granted') return undefined
    if (signal?.aborted !== true) return this.#hold(asked, outcome)
    // Its history says that it gave this up, so it does not go on to hold it.
    await this.#insist(this.#toRelease(asked, outcome.token, 'r'))
    return undefined
  }

  #hold({ key, owner, session }: Acquire, granted: Granted): Granted {
    const { token } = granted
    this.#held = {
      space: 'lock',
      key,
      owner,
      inSession: session !== undefined,
      token,
      isLeft: false,
    }
    return granted
  }

  async #look(key: string): Promise<void> {
    try {
      await this.#engine.read({ kind: 'inspect', key, queueLimit: 1_000 })
    } catch (error) {
      this.#parts.notes.problem(`inspect ${key}: ${String(error)}`)
    }
  }

  /** `undefined` where it failed instead of being answered. */
  async #ask<C extends Command>(
    command: C,
    signal?: AbortSignal,
  ): Promise<OutcomeOf<C> | undefined> {
    const calledAtMs = this.#parts.clock.nowMs()
    try {
      const outcome = await this.#engine.apply(command, { signal })
      if (outcome.kind !== 'refused') this.#latestCallMs = calledAtMs
      return outcome
    } catch (error) {
      this.#parts.notes.failed(command, error)
      return undefined
    }
  }

  /** Until somebody knows that it is done. */
  async #insist(command: Command): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if ((await this.#ask(command)) !== undefined) return
    }
    this.#parts.notes.problem(`${JSON.stringify(command)} is never answered`)
  }

  #lose(loss: SessionLoss): void {
    const held = this.#held
    if (held === undefined) return
    const { key, owner, token, inSession } = held
    if (loss.kind === 'unknown') {
      if (inSession) void this.#askWhetherHeld(held)
    } else if (loss.key === key && loss.owner === owner && loss.token === token) {
      this.#noteLost(held, loss.end)
    }
  }

  /** The connection was made anew, and what was lost in between was not told. */
  async #askWhetherHeld(held: Held): Promise<void> {
    const { key, owner, space: namespace } = held
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      try {
        const query = { kind: 'standing', key, owner, namespace } as const
        const { holder } = await this.#parts.engine.read(query)
        if (holder === null && !held.isLeft && this.#held === held) {
          this.#noteLost(held, 'while cut off')
        }
        return
      } catch {
        // The server is away once more.
      }
    }
  }

  #noteLost({ space, key, owner, token }: Held, detail: string): void {
    this.#held = undefined
    this.#parts.notes.lost()
    this.#parts.recorder.mark('lost', { space, key, owner, token, detail })
  }
}
