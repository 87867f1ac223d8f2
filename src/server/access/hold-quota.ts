import type { ApplyOptions, LockEngine, WatchEvent } from '../../engine/engine.ts'
import type { Command } from '../../law/model/commands.ts'
import type { LawEvent } from '../../law/model/events.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Outcome, OutcomeOf } from '../../law/model/outcomes.ts'
import type { Namespace } from '../../law/model/view.ts'
import type { Clock } from '../../time/clock.ts'
import { RecentMap } from '../recent-map.ts'
import {
  type HoldCounts,
  type HoldCountsOptions,
  listHolds,
  principalOf,
  REST_FACTOR,
} from './hold-counts.ts'

/** An event is later than the answer of what it tells, but hardly ever by so much. */
const LATE_MS = 60_000
const LATE_MAX = 100_000

interface Hold {
  readonly token: number
  /** Of its first step; absent where that was not heard of. */
  readonly requestId: string | undefined
  /** It may have several steps, so that a release need not be its end. */
  readonly isMany: boolean
}

interface HoldName {
  readonly namespace: Namespace
  readonly key: string
  readonly owner: string
  readonly node?: string | undefined
}

interface Count {
  holds: Map<string, Hold>
  /** At most so many more, which have not been listed yet. */
  unlisted: number
  /** Requests that have been let through and not been answered yet. */
  asking: number
  recount: Promise<void> | undefined
  /** While a recount runs: what it must not overwrite. */
  changed: Map<string, Hold | undefined> | undefined
  /** Not counted anew before this. */
  restsUntilMs: number
}

/**
 * For engines that several servers share, which tell of a change after another server has answered it, and
 * take their time to list the holds. These are kept by name and token, so that answers, events and the list may
 * come in any order: what is granted and released through this server counts from its answer on, the rest
 * as soon as it is heard of, and nothing twice.
 */
export class HoldQuota implements HoldCounts {
  readonly #options: HoldCountsOptions
  readonly #counts = new Map<string, Count>()
  /** The token of a hold that has ended, so that it is not taken for new when its grant is told. */
  readonly #ended: RecentMap<number>
  #unlisted = Number.POSITIVE_INFINITY

  constructor(options: HoldCountsOptions & { readonly clock: Clock }) {
    this.#options = options
    const { clock } = options
    this.#ended = new RecentMap({ clock, keptMs: LATE_MS, keptMax: LATE_MAX })
  }

  /** The engine, for commands whose answers are to be noted. */
  follow(engine: LockEngine): LockEngine {
    return {
      capabilities: engine.capabilities,
      apply: (command, options) => this.#apply(engine, command, options),
      read: (query) => engine.read(query),
      watch: (filter, listener) => engine.watch(filter, listener),
      close: () => engine.close(),
      [Symbol.asyncDispose]: () => engine.close(),
    }
  }

  async open(): Promise<void> {
    this.#unlisted = (await this.#options.engine.read({ kind: 'stats' })).holds
    for (const count of this.#counts.values()) {
      count.unlisted = Math.min(count.unlisted, this.#unlisted)
    }
  }

  hear(event: WatchEvent): void {
    if (event.kind === 'reset') return this.#loseTrack()
    const { kind, token } = event
    const count = token === undefined ? undefined : this.#countOf(event)
    if (count === undefined || token === undefined) return
    if (kind === 'granted') this.#hearGrant(count, event, token)
    else if (kind === 'released' || kind === 'cancelled') this.#hearStep(count, event, token)
    else if (kind === 'expired' || kind === 'disconnected' || kind === 'forced') {
      this.#end(count, toId(event), token)
    }
  }

  hasRoom(name: string | undefined, limit: number): boolean {
    const { holds, unlisted, asking } = this.#of(name)
    return holds.size + unlisted + asking < limit
  }

  async recount(name: string | undefined): Promise<void> {
    const count = this.#of(name)
    if (this.#options.nowMs() < count.restsUntilMs) return
    count.recount ??= this.#recount(name, count)
    await count.recount
  }

  ask(name: string | undefined): void {
    this.#of(name).asking += 1
  }

  answered(name: string | undefined): void {
    this.#of(name).asking -= 1
  }

  async #apply<C extends Command>(
    engine: LockEngine,
    command: C,
    options?: ApplyOptions,
  ): Promise<OutcomeOf<C>> {
    const name = nameOf(command)
    const count = name === undefined ? undefined : this.#countOf(name)
    if (name === undefined || count === undefined) return engine.apply(command, options)
    const id = toId(name)
    // A hold that is granted before the answer to a release is looked at is another one.
    const before = count.holds.get(id)
    const outcome = await engine.apply(command, options)
    const requestId = 'requestId' in command ? command.requestId : undefined
    this.#note(count, { id, requestId, before }, outcome)
    return outcome
  }

  #note(
    count: Count,
    {
      id,
      requestId,
      before,
    }: { id: string; requestId: string | undefined; before: Hold | undefined },
    outcome: Outcome,
  ): void {
    if (outcome.kind === 'granted') {
      const { token, reads, writes } = outcome
      const known = count.holds.get(id)
      if (token < (known?.token ?? 0) || token <= (this.#ended.get(id) ?? 0)) return
      const wasMany = known?.token === token && known.isMany
      this.#set(count, id, { token, requestId, isMany: wasMany || reads + writes > 1 })
    } else if (outcome.kind === 'released' || outcome.kind === 'finished') {
      const isOver = outcome.kind === 'finished' || outcome.reads + outcome.writes === 0
      if (isOver && before !== undefined) this.#end(count, id, before.token)
    }
  }

  /** Events of one key come in order, so a later token without an end between is an upgrade. */
  #hearGrant(count: Count, event: LawEvent, token: number): void {
    const id = toId(event)
    const { requestId } = event
    const known = count.holds.get(id)
    if (token < (known?.token ?? 0) || token <= (this.#ended.get(id) ?? 0)) return
    if (known?.token === token && (known.isMany || known.requestId === requestId)) return
    this.#set(count, id, {
      token,
      requestId,
      isMany: known !== undefined && event.namespace === 'lock',
    })
  }

  #hearStep(count: Count, event: LawEvent, token: number): void {
    const id = toId(event)
    const known = count.holds.get(id)
    if (known?.token !== token) return
    if (known.isMany) void this.#look(count, event, known)
    else this.#end(count, id, token)
  }

  /** Whether a hold of several steps is still there is for the engine to say. */
  async #look(count: Count, { namespace, key, owner }: LawEvent, known: Hold): Promise<void> {
    const { engine } = this.#options
    const id = toId({ namespace, key, owner })
    const query = { kind: 'standing', namespace, key, owner } as const
    const standing = await engine.read(query).catch(() => undefined)
    if (standing === undefined || count.holds.get(id)?.token !== known.token) return
    const token = standing.holder?.token
    if (token === undefined) this.#end(count, id, known.token)
    else if (token !== known.token) this.#set(count, id, { ...known, token })
  }

  #set(count: Count, id: string, hold: Hold): void {
    count.holds.set(id, hold)
    count.changed?.set(id, hold)
  }

  #end(count: Count, id: string, token: number): void {
    this.#ended.set(id, Math.max(token, this.#ended.get(id) ?? 0))
    if ((count.holds.get(id)?.token ?? token) > token) return
    count.holds.delete(id)
    count.changed?.set(id, undefined)
  }

  /** Anything may have begun or ended. */
  #loseTrack(): void {
    this.#unlisted = Number.POSITIVE_INFINITY
    for (const count of this.#counts.values()) {
      count.unlisted = this.#unlisted
      count.restsUntilMs = Number.NEGATIVE_INFINITY
    }
    void this.open().catch(() => {})
  }

  async #recount(name: string | undefined, count: Count): Promise<void> {
    const { engine, nowMs } = this.#options
    const sinceMs = nowMs()
    const changed = new Map<string, Hold | undefined>()
    count.changed = changed
    try {
      const holds = new Map<string, Hold>()
      for await (const { namespace, key, holder } of listHolds(engine, name)) {
        const { owner, token } = holder
        // The release of a step that it had before may be told yet.
        const hold = { token, requestId: undefined, isMany: true }
        holds.set(toId({ namespace, key, owner }), hold)
      }
      // What was heard meanwhile is newer than what was read, or will be told again.
      for (const [id, hold] of changed) {
        if (hold === undefined) holds.delete(id)
        else holds.set(id, hold)
      }
      count.holds = holds
      count.unlisted = 0
    } finally {
      count.restsUntilMs = nowMs() + (nowMs() - sinceMs) * REST_FACTOR
      count.changed = undefined
      count.recount = undefined
    }
  }

  /** `undefined` for a name from before auth was turned on. */
  #countOf({ owner, node }: HoldName): Count | undefined {
    const { names } = this.#options
    if (names === undefined) return this.#of(undefined)
    const name = principalOf(node ?? owner)
    return names().has(name) ? this.#of(name) : undefined
  }

  /** No principal is called by an empty name. */
  #of(name = ''): Count {
    let count = this.#counts.get(name)
    if (count === undefined) {
      count = {
        holds: new Map(),
        unlisted: this.#unlisted,
        asking: 0,
        recount: undefined,
        changed: undefined,
        restsUntilMs: Number.NEGATIVE_INFINITY,
      }
      this.#counts.set(name, count)
    }
    return count
  }
}

/** Names have no control characters. */
function toId({ namespace, key, owner }: HoldName): string {
  return `${namespace}\n${key}\n${owner}`
}

/** The hold that a command may begin or end. */
function nameOf(command: Command): HoldName | undefined {
  switch (command.kind) {
    case 'acquire':
    case 'release':
      return { namespace: 'lock', key: command.key, owner: command.owner }
    case 'begin':
    case 'finish': {
      const { resource: key, node } = command
      return { namespace: 'operation', key, owner: ownerOf(command), node }
    }
    default:
      return undefined
  }
}
