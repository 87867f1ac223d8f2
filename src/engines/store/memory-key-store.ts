import assert from 'node:assert'
import { toClosed } from '../../engine/errors/engine-errors.ts'
import type { Clock } from '../../time/clock.ts'
import type {
  AskedKey,
  CommitOptions,
  CommitResult,
  CommittedKeys,
  DueKeys,
  KeptHistory,
  KeyChange,
  KeyName,
  KeyStore,
  LabelledKeys,
  ListedNames,
  LoadedKeys,
  Notice,
  StoreCounts,
  StoreFacts,
} from './key-store.ts'
import { MemoryKeys, type SavedKeys } from './memory-keys.ts'

const FACTS: StoreFacts = {
  pushes: true,
  checksOthers: true,
  keepsHistory: true,
  partChangesMax: Number.MAX_SAFE_INTEGER,
}

export interface MemoryKeyStoreOptions {
  readonly clock: Clock
  /** To be poorer than it is, as another store would be. */
  readonly facts?: Partial<StoreFacts> | undefined
}

/**
 * A key store in memory, for simulated processes that share it: each connects, as it would to a server, because
 * turns, notices and losses are each process's own, and one process may die while the rest go on.
 *
 * Every call takes effect at once, in one step, and is answered in a later turn of the event loop's queue of promises.
 * Delays and failures are the business of the test kit.
 */
export class MemoryKeyStore {
  readonly #clock: Clock
  readonly #facts: StoreFacts
  readonly #keys = new MemoryKeys()
  readonly #connections = new Set<MemoryConnection>()
  #stepMs = 0
  #shownMs = 0
  #losses = 0

  constructor({ clock, facts }: MemoryKeyStoreOptions) {
    this.#clock = clock
    this.#facts = { ...FACTS, ...facts }
  }

  connect(process: string): KeyStore {
    const connection = new MemoryConnection(process, {
      facts: this.#facts,
      keys: this.#keys,
      connections: this.#connections,
      losses: () => this.#losses,
      nowMs: () => this.#nowMs(),
    })
    this.#connections.add(connection)
    return connection
  }

  /** It never goes back. */
  #nowMs(): number {
    this.#shownMs = Math.max(this.#shownMs, Math.floor(this.#clock.nowMs()) + this.#stepMs)
    return this.#shownMs
  }

  /** Set the store's clock, as an operator might. After a step back it stands still until it is true again. */
  stepClock(ms: number): void {
    this.#stepMs += ms
  }

  /** How many records it keeps, of every kind. */
  get size(): number {
    return this.#keys.size
  }

  /** What a replica or a backup would have of this moment. */
  save(): SavedKeys {
    return this.#keys.save()
  }

  /** Lose every commit since then. */
  restore(saved: SavedKeys): void {
    this.#keys.restore(saved)
    this.#losses += 1
    for (const connection of this.#connections) connection.tellLoss()
  }
}

interface SharedState {
  readonly facts: StoreFacts
  readonly keys: MemoryKeys
  readonly connections: Set<MemoryConnection>
  losses(): number
  nowMs(): number
}

type EventListener = (events: readonly string[] | undefined) => void

class MemoryConnection implements KeyStore {
  readonly process: string
  readonly #shared: SharedState
  readonly #watchers = new Set<EventListener>()
  #listener: ((notice: Notice | undefined) => void) | undefined
  #lossesKnown: number
  #isClosed = false

  constructor(process: string, shared: SharedState) {
    this.process = process
    this.#shared = shared
    this.#lossesKnown = shared.losses()
  }

  get facts(): StoreFacts {
    return this.#shared.facts
  }

  async load(asked: readonly AskedKey[]): Promise<LoadedKeys> {
    const { keys, nowMs } = this.#open()
    return { nowMs, keys: asked.map((one) => keys.load(one)) }
  }

  async commit(changes: readonly KeyChange[], options: CommitOptions): Promise<CommittedKeys> {
    const { keys, nowMs } = this.#open()
    for (const change of changes) this.#assertAllowed(change)
    assert.ok(changes.length > 0, 'a commit changes something')
    const names = new Set(changes.map(({ name }) => `${name.space} ${name.name}`))
    assert.equal(names.size, changes.length, 'a key is changed once in a commit')
    if (this.#lossesKnown !== this.#shared.losses()) {
      this.#lossesKnown = this.#shared.losses()
      const results = changes.map(
        ({ name, wants }): CommitResult => ({ kind: 'lost', key: keys.load({ name, wants }) }),
      )
      return { nowMs, results }
    }
    const moment = { ...options, nowMs, process: this.process }
    return { nowMs, results: changes.map((change) => this.#commitOne(change, moment)) }
  }

  #commitOne(change: KeyChange, moment: Parameters<MemoryKeys['commit']>[1]): CommitResult {
    const { keys, connections, facts } = this.#shared
    const isHistoryKept = change.kind === 'check' || facts.keepsHistory
    const result = keys.commit(isHistoryKept ? change : { ...change, history: [] }, moment)
    if (result.kind !== 'committed') return result
    const { name, events = [] } = change
    for (const connection of connections) connection.tellEvents(events)
    if (change.kind === 'check' || !facts.pushes) return result
    const head = change.kind === 'remove' ? null : change.head
    const notice: Notice = { name, version: result.version, head }
    for (const connection of connections) {
      if (change.notify?.includes(connection.process)) connection.tellNotice(notice)
    }
    return result
  }

  #assertAllowed(change: KeyChange): void {
    const { checksOthers, partChangesMax } = this.facts
    assert.ok(checksOthers || (change.unchanged ?? []).length === 0, 'other keys are not checked')
    if (change.kind !== 'write') return
    const { puts = [], removes = [] } = change
    assert.ok(puts.length + removes.length <= partChangesMax, 'too many parts for one change')
    const touched = [...puts, ...removes].map(({ group, id }) => `${group}\u0000${id}`)
    assert.equal(new Set(touched).size, touched.length, 'a part is changed once in a change')
  }

  async due(limit: number): Promise<DueKeys> {
    const { keys, nowMs } = this.#open()
    return keys.due(nowMs, limit)
  }

  async list(query: ListedNames): Promise<readonly string[]> {
    return this.#open().keys.list(query)
  }

  async find(query: LabelledKeys): Promise<readonly KeyName[]> {
    return this.#open().keys.find(query)
  }

  async count(): Promise<StoreCounts> {
    return this.#open().keys.count()
  }

  async history(query: KeptHistory): Promise<readonly string[]> {
    const { keys, nowMs } = this.#open()
    return keys.history(query, nowMs)
  }

  async tidy(): Promise<void> {
    const { keys, nowMs } = this.#open()
    keys.tidy(nowMs)
  }

  async listen(on: (notice: Notice | undefined) => void): Promise<void> {
    this.#open()
    assert.equal(this.#listener, undefined, 'a process listens once')
    this.#listener = on
  }

  async watch(on: EventListener): Promise<() => Promise<void>> {
    this.#open()
    // One function may be used for two watches.
    const watcher: EventListener = (events) => on(events)
    this.#watchers.add(watcher)
    return async () => {
      this.#watchers.delete(watcher)
    }
  }

  tellNotice(notice: Notice | undefined): void {
    queueMicrotask(() => this.#listener?.(notice))
  }

  tellEvents(events: readonly string[] | undefined): void {
    if (events?.length === 0) return
    for (const watcher of this.#watchers) queueMicrotask(() => watcher(events))
  }

  tellLoss(): void {
    if (this.facts.pushes) this.tellNotice(undefined)
    this.tellEvents(undefined)
  }

  #open(): { readonly keys: MemoryKeys; readonly nowMs: number } {
    if (this.#isClosed) throw toClosed()
    return { keys: this.#shared.keys, nowMs: this.#shared.nowMs() }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#shared.connections.delete(this)
  }
}
