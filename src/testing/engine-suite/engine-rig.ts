import assert from 'node:assert/strict'
import type { Capabilities } from '../../engine/capabilities.ts'
import type { ApplyOptions, LockEngine } from '../../engine/engine.ts'
import type { InspectReply, Query, ReplyOf, StatsReply } from '../../engine/queries.ts'
import type {
  Acquire,
  Begin,
  Command,
  Finish,
  OpenSession,
  Release,
  Renew,
  Unref,
  Cancel,
} from '../../law/model/commands.ts'
import type { Granted, OutcomeOf, RefusalCode, Refused } from '../../law/model/outcomes.ts'
import { asGranted, asQueued, asRefused } from './answers.ts'
import type { EngineFixture, HistoryDose, OpenedEngine } from './engine-fixture.ts'
import { OpenWait } from './queue/open-wait.ts'
import { Patience, REAL_CLOCK } from './queue/patience.ts'

/** The lock and the resource that a test is about, unless it says otherwise. */
export const KEY = 'k'
export const RESOURCE = 'layer'

/** The lease of a hold that says nothing else. Nothing in the suite asks for less than half of it. */
export const TTL_MS = 10_000

const PATIENCE_MS_DEFAULT = 5_000

export type AcquireFields = Partial<Omit<Acquire, 'kind' | 'owner'>>
export type ReleaseFields = Partial<Omit<Release, 'kind' | 'owner'>>
export type BeginFields = Partial<Omit<Begin, 'kind' | 'type' | 'node'>>
export type FinishFields = Partial<Omit<Finish, 'kind' | 'type' | 'node' | 'success'>>
export type CompleteFields = BeginFields & { readonly value?: string }

/**
 * One engine under test, with the short verbs in which the tests are written.
 *
 * The verbs take durations as if leases lasted ten seconds; on a real clock they are shortened on
 * the way. `apply` and `read` take everything as it is.
 */
export class EngineRig {
  readonly patience: Patience
  readonly #fixture: EngineFixture
  readonly #opened: OpenedEngine
  #engine: LockEngine
  #requests = 0

  constructor(fixture: EngineFixture, opened: OpenedEngine) {
    this.#fixture = fixture
    this.#opened = opened
    this.#engine = opened.engine
    this.patience = new Patience(fixture.patienceMs ?? PATIENCE_MS_DEFAULT)
  }

  get engine(): LockEngine {
    return this.#engine
  }

  get capabilities(): Capabilities {
    return this.#engine.capabilities
  }

  get isVirtual(): boolean {
    return this.#fixture.realTime === undefined
  }

  get histories(): HistoryDose {
    return this.#fixture.histories ?? {}
  }

  /** What time it is for the engine, as exactly as the harness can know. */
  get clock(): { nowMs(): number } {
    if (!this.isVirtual) return REAL_CLOCK
    assert.ok(this.#opened.clock, 'a fixture on a virtual clock shows it')
    return this.#opened.clock
  }

  /** A duration of the tests as this engine is to hear it. */
  ms(durationMs: number): number {
    return Math.round(durationMs * (this.#fixture.realTime?.scale ?? 1))
  }

  async advance(durationMs: number): Promise<void> {
    await this.#opened.advance(this.ms(durationMs))
  }

  /** That a remaining time is what it should be: exactly, or as exactly as a real clock allows. */
  assertLeft(actualMs: number, durationMs: number): void {
    const expectedMs = this.ms(durationMs)
    const slackMs = this.#fixture.realTime?.slackMs ?? 0
    const granularityMs = this.capabilities.leaseGranularityMs
    const isRight =
      actualMs <= expectedMs + granularityMs && actualMs >= expectedMs - granularityMs - slackMs
    assert.ok(isRight, `${actualMs} ms are left, not about ${expectedMs} ms`)
  }

  /** Close the engine and open its store again, as a planned restart does. */
  async reopen(): Promise<void> {
    assert.ok(this.#opened.reopen, 'a durable engine is tested with a fixture that can reopen it')
    this.#engine = await this.#opened.reopen()
  }

  /** Kill the engine and open its store again. */
  async crash(): Promise<void> {
    assert.ok(this.#opened.crash, 'a durable engine is tested with a fixture that can crash it')
    this.#engine = await this.#opened.crash()
  }

  async second(): Promise<LockEngine> {
    assert.ok(this.#opened.second, 'a shared engine is tested with a fixture that opens it twice')
    return this.#opened.second()
  }

  nextId(): string {
    this.#requests += 1
    return `request-${this.#requests}`
  }

  async apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>> {
    return this.#engine.apply(command, options)
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    return this.#engine.read(query)
  }

  /** Ask for the lock. Whatever the answer, it has to come without time passing. */
  acquire(owner: string, fields: AcquireFields = {}): Promise<OutcomeOf<Acquire>> {
    const answer = this.apply(this.toAcquire(owner, fields))
    return this.patience.answer(answer, `the answer to ${owner}`)
  }

  /** The command that the verbs send: a write lock on the usual key, for the usual time. */
  toAcquire(owner: string, fields: AcquireFields = {}): Acquire {
    const { ttlMs = TTL_MS, waitMs, requestId = this.nextId(), key = KEY, ...rest } = fields
    const wait = waitMs === undefined ? {} : { waitMs: this.ms(waitMs) }
    return { kind: 'acquire', key, owner, requestId, ttlMs: this.ms(ttlMs), ...wait, ...rest }
  }

  /** Acquire, with no other answer than that it is granted. */
  async grant(owner: string, fields: AcquireFields = {}): Promise<Granted> {
    return asGranted(await this.acquire(owner, fields))
  }

  /** Acquire, refused with this code and no other. */
  async refuse(owner: string, code: RefusalCode, fields: AcquireFields = {}): Promise<Refused> {
    return asRefused(await this.acquire(owner, fields), code)
  }

  /** An open request for the lock, once it stands in the queue. It waits for ever by default. */
  async wait(
    owner: string,
    fields: AcquireFields = {},
    options?: ApplyOptions,
  ): Promise<OpenWait<OutcomeOf<Acquire>>> {
    const command = this.toAcquire(owner, { waitMs: Infinity, ...fields })
    const outcome = this.apply(command, options)
    const wait = new OpenWait(command.requestId, outcome, this.patience)
    const isQueued = async (): Promise<boolean> => {
      if (!wait.isOpen) return true
      const standing = await this.read({ kind: 'standing', key: command.key, owner })
      return standing.waiting.some(({ requestId }) => requestId === command.requestId)
    }
    await this.patience.until(isQueued, `${owner} stands in the queue`)
    if (!wait.isOpen) assert.fail(`${owner} does not wait: ${JSON.stringify(await wait.answer())}`)
    return wait
  }

  /** A request for the lock that is not held open; it keeps its place by asking again. */
  async queue(owner: string, fields: AcquireFields = {}): Promise<number> {
    const outcome = await this.acquire(owner, { waitMs: Infinity, detach: true, ...fields })
    return asQueued(outcome)
  }

  release(owner: string, fields: ReleaseFields = {}): Promise<OutcomeOf<Release>> {
    return this.apply({ kind: 'release', key: KEY, owner, ...fields })
  }

  renew(
    owner: string,
    ttlMs: number = TTL_MS,
    fields: { key?: string; token?: number } = {},
  ): Promise<OutcomeOf<Renew>> {
    return this.apply({ kind: 'renew', key: KEY, owner, ttlMs: this.ms(ttlMs), ...fields })
  }

  cancel(owner: string, requestId?: string): Promise<OutcomeOf<Cancel>> {
    return this.apply({ kind: 'cancel', key: KEY, owner, requestId })
  }

  begin(type: string, node: string, fields: BeginFields = {}): Promise<OutcomeOf<Begin>> {
    const answer = this.apply(this.toBegin(type, node, fields))
    return this.patience.answer(answer, `the answer to ${type}:${node}`)
  }

  toBegin(type: string, node: string, fields: BeginFields = {}): Begin {
    const { resource = RESOURCE, ttlMs = TTL_MS, waitMs, ...rest } = fields
    const wait = waitMs === undefined ? {} : { waitMs: this.ms(waitMs) }
    return { kind: 'begin', type, node, resource, ttlMs: this.ms(ttlMs), ...wait, ...rest }
  }

  /** An open request to run an operation, once it stands in the queue. */
  async waitToBegin(
    type: string,
    node: string,
    fields: BeginFields = {},
  ): Promise<OpenWait<OutcomeOf<Begin>>> {
    const command = this.toBegin(type, node, { waitMs: 3_600_000, ...fields })
    const wait = new OpenWait(`${type}:${node}`, this.apply(command), this.patience)
    const isQueued = async (): Promise<boolean> => {
      if (!wait.isOpen) return true
      const { queue } = await this.inspectResource(command.resource)
      return queue.some((waiter) => waiter.type === type && waiter.node === node)
    }
    await this.patience.until(isQueued, `${type} of ${node} stands in the queue`)
    if (!wait.isOpen) assert.fail(`${node} does not wait: ${JSON.stringify(await wait.answer())}`)
    return wait
  }

  succeed(type: string, node: string, fields: FinishFields = {}): Promise<OutcomeOf<Finish>> {
    return this.apply({ kind: 'finish', type, node, resource: RESOURCE, success: true, ...fields })
  }

  fail(type: string, node: string, fields: FinishFields = {}): Promise<OutcomeOf<Finish>> {
    return this.apply({ kind: 'finish', type, node, resource: RESOURCE, success: false, ...fields })
  }

  /** Begin and finish well, with no other answer on the way. */
  async complete(type: string, node: string, fields: CompleteFields = {}): Promise<void> {
    const { value, ...begin } = fields
    const { resource = RESOURCE, coordination } = begin
    asGranted(await this.begin(type, node, begin))
    const finished = await this.succeed(type, node, { resource, value, coordination })
    assert.deepEqual(finished, { kind: 'finished', success: true })
  }

  unref(node: string, resource?: string): Promise<OutcomeOf<Unref>> {
    return this.apply({ kind: 'unref', node, resource })
  }

  openSession(
    session: string,
    graceMs: number,
    keepsLeases = true,
  ): Promise<OutcomeOf<OpenSession>> {
    return this.apply({ kind: 'open-session', session, graceMs: this.ms(graceMs), keepsLeases })
  }

  inspect(key: string = KEY): Promise<InspectReply> {
    return this.read({ kind: 'inspect', key, namespace: 'lock' })
  }

  inspectResource(resource: string = RESOURCE): Promise<InspectReply> {
    return this.read({ kind: 'inspect', key: resource, namespace: 'operation' })
  }

  stats(): Promise<StatsReply> {
    return this.read({ kind: 'stats' })
  }

  /** The owners that hold the lock, in grant order. */
  async holders(key: string = KEY): Promise<string[]> {
    return (await this.inspect(key)).holders.map(({ owner }) => owner)
  }

  /** The owners that wait for the lock, next first. */
  async waiters(key: string = KEY): Promise<string[]> {
    return (await this.inspect(key)).queue.map(({ owner }) => owner)
  }

  async references(resource: string = RESOURCE): Promise<string[]> {
    const { nodes } = await this.read({ kind: 'references', resource })
    return nodes.toSorted()
  }
}
