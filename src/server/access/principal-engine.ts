import type { Capabilities } from '../../engine/capabilities.ts'
import type {
  Answer,
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../engine/engine.ts'
import { createError, type LockError } from '../../engine/errors/errors.ts'
import type {
  HistoryQuery,
  HistoryReply,
  Query,
  ReplyOf,
  StatsReply,
} from '../../engine/queries.ts'
import { HISTORY_SHOWN, QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import type { Acquire, Begin, Command, Force } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { AuditLog } from '../observe/audit-log.ts'
import type { ServerLimits } from '../server-limits.ts'
import type { HoldQuota } from './hold-quota.ts'
import { LimitCheck } from './limit-check.ts'
import { listByRights } from './list-by-rights.ts'
import type { Principal } from './principal.ts'
import type { PrincipalView } from './principal-view.ts'
import type { RefusalDetails } from './refusal-details.ts'
import { showOutcome } from './show-outcome.ts'
import { showInspect, showStanding } from './show-reply.ts'
import { storeCommand } from './store-command.ts'

export interface PrincipalEngineParts {
  readonly engine: LockEngine
  readonly principal: Principal
  readonly view: PrincipalView
  readonly limits: ServerLimits
  readonly holds: HoldQuota
  readonly refusals: RefusalDetails
  readonly audit: AuditLog
  /** Told that there are too many holds to ask for one more. */
  readonly onLimit: (kind: 'lock' | 'operation') => void
}

/**
 * The engine as one principal may use it: its names, its keys, its rights, its limits. Everything that a
 * client can reach goes through here, whatever it came in by.
 */
export class PrincipalEngine implements LockEngine {
  readonly capabilities: Capabilities
  readonly #parts: PrincipalEngineParts
  readonly #engine: LockEngine
  readonly #view: PrincipalView
  readonly #limits: LimitCheck

  constructor(parts: PrincipalEngineParts) {
    this.#parts = parts
    this.#engine = parts.engine
    this.#view = parts.view
    this.#limits = new LimitCheck(parts.limits, parts.view.prefixBytes)
    this.capabilities = parts.engine.capabilities
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Answer<C>
  apply(command: Command, options?: ApplyOptions): Outcome | Promise<Outcome> {
    try {
      this.#limits.assert(command)
      this.#assertRight(command)
    } catch (error) {
      return Promise.reject(error as LockError)
    }
    if (command.kind === 'acquire' || command.kind === 'begin') return this.#ask(command, options)
    if (command.kind === 'force') return this.#force(command)
    return this.#give(command, options)
  }

  async read<Q extends Query>(query: Q): Promise<ReplyOf<Q>>
  async read(query: Query): Promise<ReplyOf<Query>> {
    const view = this.#view
    if (query.kind === 'stats') return forClients(await this.#engine.read(query))
    if (view.isPlain) return this.#engine.read(query)
    switch (query.kind) {
      case 'inspect':
        this.#assertKey(query.key)
        return showInspect(view, await this.#engine.read(query))
      case 'standing': {
        this.#assertKey(query.key)
        const { namespace = 'lock' } = query
        const owner = this.#nameOf(query.owner, namespace)
        return showStanding(view, await this.#engine.read({ ...query, owner }), namespace)
      }
      case 'references': {
        this.#assertKey(query.resource)
        const { resource, nodes, unclaimed } = await this.#engine.read(query)
        const toShown = (node: string): string => view.toShown(node)
        return { resource, nodes: nodes.map(toShown), unclaimed: unclaimed.map(toShown) }
      }
      case 'list': {
        const owner =
          query.owner === undefined ? undefined : this.#nameOf(query.owner, query.namespace)
        const stored = { ...query, owner }
        const reply =
          view.rights === undefined
            ? await this.#engine.read(stored)
            : await listByRights(this.#engine, stored, view.rights)
        return { ...reply, locks: reply.locks.map((one) => showInspect(view, one)) }
      }
      case 'history':
        return this.#readHistory(query)
    }
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    const view = this.#view
    if (view.isPlain) return this.#engine.watch(filter, listener)
    view.assertPrefix(filter.prefix ?? '')
    return this.#engine.watch(filter, (event) => {
      const shown = view.showEvent(event)
      if (shown !== undefined) listener(shown)
    })
  }

  /** The engine is not this principal's to close. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #give(command: Command, options?: ApplyOptions): Answer<Command> {
    return this.#view.isPlain
      ? this.#engine.apply<Command>(command, options)
      : this.#giveRenamed(command, options)
  }

  async #giveRenamed(command: Command, options?: ApplyOptions): Promise<Outcome> {
    const view = this.#view
    const { holds, principal } = this.#parts
    const phase = holds.phaseOf(principal.name)
    const outcome = await this.#engine.apply<Command>(storeCommand(view, command), options)
    if (isEndOfHold(command, outcome)) holds.released(principal.name, phase)
    return showOutcome(view, command, outcome)
  }

  /** Commands on one key keep their order, so there is no waiting here unless the limit is near. */
  #ask(command: Acquire | Begin, options?: ApplyOptions): Answer<Command> {
    const { holds, principal } = this.#parts
    const hasRoom = holds.take(principal.name)
    return hasRoom ? this.#askNow(command, options) : this.#askAtLimit(command, options)
  }

  #askNow(command: Acquire | Begin, options?: ApplyOptions): Answer<Command> {
    const answer = this.#give(command, options)
    return answer instanceof Promise
      ? this.#await(command, answer)
      : this.#answered(command, answer)
  }

  async #await(command: Acquire | Begin, answering: Promise<Outcome>): Promise<Outcome> {
    let outcome: Outcome
    try {
      outcome = await answering
    } catch (error) {
      // It may have been granted.
      this.#parts.holds.answered(this.#parts.principal.name, true)
      throw error
    }
    return this.#answered(command, outcome)
  }

  #answered(command: Acquire | Begin, outcome: Outcome): Outcome {
    const { holds, principal, refusals } = this.#parts
    holds.answered(principal.name, mayBeHold(outcome))
    if (outcome.kind !== 'refused') return outcome
    return refusals.complete(principal.name, command, outcome)
  }

  /** Asking again, or for one more step of a hold that is there, does not make one more hold. */
  async #askAtLimit(command: Acquire | Begin, options?: ApplyOptions): Promise<Outcome> {
    const { holds, principal, limits, onLimit } = this.#parts
    await holds.recount(principal.name)
    // Looked at and taken in one go, because others have waited for the same count.
    if (holds.take(principal.name)) return this.#askNow(command, options)
    if (await this.#isKnown(command)) {
      holds.takeAnyway(principal.name)
      return this.#askNow(command, options)
    }
    onLimit(command.kind === 'acquire' ? 'lock' : 'operation')
    return {
      kind: 'refused',
      code: 'limit',
      detail: `more than ${limits.holds} holds and requests for one principal`,
    }
  }

  async #isKnown(command: Acquire | Begin): Promise<boolean> {
    const { holder, waiting } = await this.read(
      command.kind === 'acquire'
        ? { kind: 'standing', key: command.key, owner: command.owner }
        : {
            kind: 'standing',
            key: command.resource,
            owner: ownerOf(command),
            namespace: 'operation',
          },
    )
    return holder !== null || waiting.length > 0
  }

  /** Whichever way an operator came in by, it is on record. */
  async #force(command: Force): Promise<Outcome> {
    const { principal, audit } = this.#parts
    const outcome = await this.#give(command)
    if (outcome.kind === 'forced') {
      const { key, owner, namespace: kind = 'lock' } = command
      audit({ action: 'force', principal: principal.name, kind, key, owner, count: outcome.count })
    }
    return outcome
  }

  /** Of all keys, the latest thousand ends are looked through for those that may be shown. */
  async #readHistory(query: HistoryQuery): Promise<HistoryReply> {
    const view = this.#view
    if (query.key !== undefined) this.#assertKey(query.key)
    const isPart = query.key === undefined && view.rights !== undefined
    const { ends } = await this.#engine.read(isPart ? { ...query, limit: QUERY_LIMIT_MAX } : query)
    const shown = ends
      .filter(({ key }) => view.mayTouch(key))
      .map((end) => ({ ...end, owner: view.toShownOwner(end.owner, end.namespace) }))
    return { ends: isPart ? shown.slice(0, query.limit ?? HISTORY_SHOWN) : shown }
  }

  /** An operator may ask about other principals' names; a client's are its own. */
  #nameOf(owner: string, namespace: 'lock' | 'operation' | undefined): string {
    return this.#parts.principal.role === 'admin'
      ? this.#view.toStoredAnyOwner(owner, namespace)
      : this.#view.toStoredOwner(owner, namespace)
  }

  #assertRight(command: Command): void {
    if (command.kind === 'force' || command.kind === 'sweep') this.#assertAdmin()
    if ('key' in command) this.#assertKey(command.key)
    else if ('resource' in command && command.resource !== undefined) {
      this.#assertKey(command.resource)
    }
  }

  #assertAdmin(): void {
    if (this.#parts.principal.role === 'admin') return
    throw createError('LOCK_FORBIDDEN', 'this needs the right of an admin')
  }

  #assertKey(key: string): void {
    if (this.#view.mayTouch(key)) return
    throw createError('LOCK_FORBIDDEN', 'this token has no right to keys like this one')
  }
}

/** A request that is queued may become a hold later, without a further answer. */
function mayBeHold({ kind }: Outcome): boolean {
  return kind === 'granted' || kind === 'queued'
}

/** A command with a request id may have ended the hold the first time that it was sent. */
function isEndOfHold(command: Command, outcome: Outcome): boolean {
  if ('requestId' in command && command.requestId !== undefined) return false
  if (outcome.kind === 'released') return outcome.reads + outcome.writes === 0
  return outcome.kind === 'finished'
}

/** Files of the server, which a failing disk names, and machines beside it are no client's business. */
function forClients(reply: StatsReply): StatsReply {
  const { differences: _, events: __, ...stats } = reply
  if (stats.journal?.lastCompactionError === undefined) return stats
  const { lastCompactionError: ___, ...journal } = stats.journal
  return { ...stats, journal }
}
