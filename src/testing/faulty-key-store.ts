import { createError } from '../engine/errors/errors.ts'
import type {
  AskedKey,
  CommitOptions,
  CommittedKeys,
  DueKeys,
  KeptHistory,
  KeyChange,
  KeyName,
  KeyStore,
  LabelledKeys,
  ListedNames,
  LoadedKey,
  LoadedKeys,
  Notice,
  StoreCounts,
  StoreFacts,
} from '../engines/store/key-store.ts'
import type { Clock, Timer } from '../time/clock.ts'
import type { Random } from './random.ts'

/** What can go wrong with a commit. At most one of them happens to each. */
const COMMIT_FAULTS = [
  /** Another process writes one of the keys just before, unless the turn of this one keeps it from that. */
  'conflict',
  /** Another process takes the turn of one of the keys just before, unless it is this one's. */
  'stolen-turn',
  /** The store's clock is set just before. */
  'clock-step',
  /** It arrives later. */
  'late-request',
  /** It takes effect at once and is answered later. */
  'late-answer',
  /** It does not take effect, and that is known: `applied` is `no`. */
  'refused',
  /** It does not take effect, and that is not known: `applied` is `maybe`. */
  'lost-request',
  /** It takes effect, and that is not known. */
  'lost-answer',
  /** It takes effect later, when it is given up already: `applied` is `maybe`. */
  'stray-request',
] as const

/** A load is answered later with what it found at once, or fails. */
const LOAD_FAULTS = ['late-load', 'failed-load'] as const

/** The listener or watcher is told `undefined` in place of what happened. */
const NOTICE_FAULTS = ['lost-notice'] as const
const EVENT_FAULTS = ['lost-events'] as const

type CommitFault = (typeof COMMIT_FAULTS)[number]
type LoadFault = (typeof LOAD_FAULTS)[number]

export type StoreFault =
  | CommitFault
  | LoadFault
  | (typeof NOTICE_FAULTS)[number]
  | (typeof EVENT_FAULTS)[number]

export interface FaultyKeyStoreOptions {
  readonly store: KeyStore
  /** Another process at the same store, for conflicts and turns that are real. */
  readonly rival: KeyStore
  /** What delays are counted on. */
  readonly clock: Clock
  readonly stepClock: (ms: number) => void
  readonly random: Random
  /** How likely each fault is by itself, from 0 to 1; it never is when absent. */
  readonly rates?: Readonly<Partial<Record<StoreFault, number>>> | undefined
}

const DELAY_MS_MAX = 500
const STEP_MS = { min: 1_500, max: 10_000 } as const

/**
 * One process's connection to a key store, on which things go wrong: by chance, or as ordered. Every fault is one that a
 * right store can have, so whatever uses stores must live with it.
 */
export class FaultyKeyStore implements KeyStore {
  readonly #options: FaultyKeyStoreOptions
  readonly #ordered: StoreFault[] = []
  readonly #injected = new Map<StoreFault, number>()
  readonly #pauses = new Map<() => void, Timer>()
  #isHealed = false

  constructor(options: FaultyKeyStoreOptions) {
    this.#options = options
  }

  /** Let this happen to the next call that it can happen to. Orders are carried out one after the other. */
  order(fault: StoreFault): void {
    this.#ordered.push(fault)
  }

  /** From now on nothing goes wrong. */
  heal(): void {
    this.#isHealed = true
  }

  /** How often each fault has happened. */
  get injected(): Readonly<Partial<Record<StoreFault, number>>> {
    return Object.fromEntries(this.#injected)
  }

  get process(): string {
    return this.#store.process
  }

  get facts(): StoreFacts {
    return this.#store.facts
  }

  get #store(): KeyStore {
    return this.#options.store
  }

  /** The fault that the present call is to have. While an order waits for its call, nothing happens by chance. */
  #draw<F extends StoreFault>(faults: readonly F[]): F | undefined {
    if (this.#isHealed) return undefined
    const { random, rates = {} } = this.#options
    if (this.#ordered.length === 0) return faults.find((one) => random.chance(rates[one] ?? 0))
    const ordered = faults.find((one) => one === this.#ordered[0])
    if (ordered !== undefined) this.#ordered.shift()
    return ordered
  }

  /** It has happened. */
  #note(fault: StoreFault): void {
    this.#injected.set(fault, (this.#injected.get(fault) ?? 0) + 1)
  }

  async load(asked: readonly AskedKey[]): Promise<LoadedKeys> {
    const fault = this.#draw(LOAD_FAULTS)
    if (fault !== undefined) this.#note(fault)
    if (fault === 'failed-load') throw toLost('no')
    const found = await this.#store.load(asked)
    if (fault === 'late-load') await this.#pause()
    return found
  }

  async commit(changes: readonly KeyChange[], options: CommitOptions): Promise<CommittedKeys> {
    const send = (): Promise<CommittedKeys> => this.#store.commit(changes, options)
    const isOrdered = this.#ordered.length > 0
    const fault = this.#draw(COMMIT_FAULTS)
    if (fault === 'conflict' || fault === 'stolen-turn') {
      if (await this.#interfere(fault, changes)) this.#note(fault)
      else if (isOrdered) this.#ordered.unshift(fault)
      return send()
    }
    if (fault !== undefined) this.#note(fault)
    switch (fault) {
      case undefined:
        return send()
      case 'clock-step':
        this.#stepClock()
        return send()
      case 'late-request':
        await this.#pause()
        return send()
      case 'late-answer': {
        const committed = await send()
        await this.#pause()
        return committed
      }
      case 'refused':
        throw toLost('no')
      case 'lost-request':
        throw toLost('maybe')
      case 'lost-answer':
        await send()
        throw toLost('maybe')
      case 'stray-request':
        void this.#pause().then(send).catch(ignore)
        throw toLost('maybe')
    }
  }

  #stepClock(): void {
    const { random, stepClock } = this.#options
    const ms = random.int(STEP_MS.min, STEP_MS.max)
    stepClock(random.chance(0.5) ? ms : -ms)
  }

  /** Whether the rival could do it: to a present key, and only if it is not this process's turn. */
  async #interfere(
    fault: 'conflict' | 'stolen-turn',
    changes: readonly KeyChange[],
  ): Promise<boolean> {
    const { rival, random } = this.#options
    const { nowMs, keys } = await rival.load(changes.map(({ name }) => ({ name })))
    const present = keys.filter(({ head }) => head !== null)
    if (present.length === 0) return false
    const { name, version, head } = random.pick(present) as LoadedKey & { readonly head: string }
    const isConflict = fault === 'conflict'
    const expected = isConflict ? version : `not ${version}`
    const change = { kind: 'write', name, expected, head } as const
    const { results } = await rival.commit([change], { atMs: nowMs, turn: !isConflict })
    return results[0]?.kind === (isConflict ? 'committed' : 'conflict')
  }

  #pause(): Promise<void> {
    const { clock, random } = this.#options
    return new Promise((resolve) => {
      const end = (): void => {
        this.#pauses.get(end)?.cancel()
        this.#pauses.delete(end)
        resolve()
      }
      this.#pauses.set(end, clock.setTimer(random.int(1, DELAY_MS_MAX), end))
    })
  }

  async listen(on: (notice: Notice | undefined) => void): Promise<void> {
    return this.#store.listen((notice) => on(this.#pass(notice, NOTICE_FAULTS)))
  }

  async watch(on: (events: readonly string[] | undefined) => void): Promise<() => Promise<void>> {
    return this.#store.watch((events) => on(this.#pass(events, EVENT_FAULTS)))
  }

  #pass<T>(told: T, faults: readonly StoreFault[]): T | undefined {
    const fault = this.#draw(faults)
    if (fault === undefined) return told
    this.#note(fault)
    return undefined
  }

  due(limit: number): Promise<DueKeys> {
    return this.#store.due(limit)
  }

  list(query: ListedNames): Promise<readonly string[]> {
    return this.#store.list(query)
  }

  find(query: LabelledKeys): Promise<readonly KeyName[]> {
    return this.#store.find(query)
  }

  count(): Promise<StoreCounts> {
    return this.#store.count()
  }

  history(query: KeptHistory): Promise<readonly string[]> {
    return this.#store.history(query)
  }

  tidy(): Promise<void> {
    return this.#store.tidy()
  }

  /** What is delayed is delayed no longer: late requests find the connection closed. */
  async close(): Promise<void> {
    await this.#store.close()
    for (const end of this.#pauses.keys()) end()
  }
}

function toLost(applied: 'no' | 'maybe'): Error {
  return createError(
    'LOCK_ENGINE_UNAVAILABLE',
    'the store did not answer, by a fault that was injected',
    {
      applied,
    },
  )
}

function ignore(): void {}
