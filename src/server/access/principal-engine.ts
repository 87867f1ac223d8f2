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
  StatsQuery,
  StatsReply,
} from '../../engine/queries.ts'
import { HISTORY_SHOWN, QUERY_LIMIT_MAX } from '../../engine/validation/query-limits.ts'
import type { Acquire, Begin, Command, Force } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { Namespace } from '../../law/model/view.ts'
import type { AuditLog } from '../observe/audit-log.ts'
import type { ServerLimits } from '../server-limits.ts'
import type { HoldQuota } from './hold-quota.ts'
import { LimitCheck } from './limit-check.ts'
import { listByRights } from './list-by-rights.ts'
import type { ListTurns } from './list-turns.ts'
import type { Principal } from './principal.ts'
import type { PrincipalView } from './principal-view.ts'
import type { RefusalDetails } from './refusal-details.ts'
import { showNames, storeNames } from './rename.ts'

export interface PrincipalEngineParts {
  readonly engine: LockEngine
  readonly principal: Principal
  readonly view: PrincipalView
  readonly limits: ServerLimits
  readonly holds: HoldQuota
  readonly lists: ListTurns
  readonly refusals: RefusalDetails
  readonly audit: AuditLog
  /** Told that there are too many holds to ask for one more. */
  readonly onLimit: (kind: 'lock' | 'operation') => void
}

/** What a command or a query may name. */
interface Named {
  readonly key?: string | undefined
  readonly resource?: string | undefined
  readonly owner?: string | undefined
  readonly namespace?: Namespace | undefined
}

/**
 * The engine as one principal may use it: its names, its keys, its rights, its limits. Everything that a
 * client can reach goes through here, over HTTP and over sessions.
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
    if (view.isPlain) return this.#readAllowed(query)
    const { key, resource, owner, namespace } = query as Named
    this.#assertKey(key ?? resource)
    const stored = owner === undefined ? query : { ...query, owner: this.#nameOf(owner, namespace) }
    return showNames(view, await this.#readAllowed(stored as typeof query), namespace)
  }

  /** What the principal's rights leave of a reply. */
  #readAllowed(query: Exclude<Query, StatsQuery>): Promise<ReplyOf<Query>> {
    const { rights } = this.#view
    const { lists } = this.#parts
    if (query.kind === 'list') {
      return rights === undefined ? lists.list(query) : listByRights(lists, query, rights)
    }
    return rights !== undefined && query.kind === 'history' && query.key === undefined
      ? this.#readHistory(query)
      : this.#engine.read(query)
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
    const outcome = await this.#engine.apply<Command>(storeNames(view, command), options)
    if (isEndOfHold(command, outcome)) holds.released(principal.name, phase)
    return showNames(view, outcome, command.kind === 'begin' ? 'operation' : 'lock')
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
    const { holds, principal } = this.#parts
    holds.answered(principal.name, mayBeHold(outcome))
    return this.#complete(command, outcome)
  }

  #complete(command: Acquire | Begin, outcome: Outcome): Outcome {
    if (outcome.kind !== 'refused') return outcome
    return this.#parts.refusals.complete(this.#parts.principal.name, command, outcome)
  }

  /** Asking again, or for one more step of a hold that is there, does not make one more hold. */
  async #askAtLimit(command: Acquire | Begin, options?: ApplyOptions): Promise<Outcome> {
    const { holds, principal, limits, onLimit } = this.#parts
    await holds.recount(principal.name)
    // Looked at and taken in one go, because others have waited for the same count.
    if (holds.take(principal.name)) return this.#askNow(command, options)
    if (await this.#isKnown(command)) {
      const outcome = await this.#give(command, options)
      if (mayBeHold(outcome)) holds.grantedAtLimit(principal.name)
      return this.#complete(command, outcome)
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
    const { ends } = await this.#engine.read({ ...query, limit: QUERY_LIMIT_MAX })
    const allowed = ends.filter(({ key }) => this.#view.mayTouch(key))
    return { ends: allowed.slice(0, query.limit ?? HISTORY_SHOWN) }
  }

  /** An operator may ask about other principals' names; a client's are its own. */
  #nameOf(owner: string, namespace: Namespace | undefined): string {
    return this.#parts.principal.role === 'admin'
      ? this.#view.toStoredAnyOwner(owner, namespace)
      : this.#view.toStoredOwner(owner, namespace)
  }

  #assertRight(command: Command): void {
    const isOperators = command.kind === 'force' || command.kind === 'sweep'
    if (isOperators && this.#parts.principal.role !== 'admin') {
      throw createError('LOCK_FORBIDDEN', 'this needs the right of an admin')
    }
    const { key, resource } = command as Named
    this.#assertKey(key ?? resource)
  }

  /** A command or query that names no key concerns none. */
  #assertKey(key: string | undefined): void {
    if (key === undefined || this.#view.mayTouch(key)) return
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
  if (stats.journal === undefined) return stats
  const { lastCompactionError: ___, full: ____, ...journal } = stats.journal
  return { ...stats, journal }
}
