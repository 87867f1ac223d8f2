import type { KeyCommand } from '../../../src/law/model/commands.ts'
import { type Decision, decide, type Law } from '../../../src/law/decide.ts'
import { DEFAULT_SETTINGS } from '../../../src/engine/validation/default-settings.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { KeyView, Namespace, Session, Waiter, WaitGraph } from '../../../src/law/model/view.ts'
import { applyChanges } from './apply-changes.ts'
import { emptyKey, type KeyState, PlainView, type Surroundings } from './plain-view.ts'

export interface PlainWorldOptions {
  readonly settings?: Partial<LawSettings>
  readonly showsAllAsDue?: boolean
  /** Off: as an engine that cannot see all keys in one step. */
  readonly seesAllKeys?: boolean
  /** Another law than the real one, to see that a wrong one is found out. */
  readonly law?: Law
}

function addressOf(namespace: Namespace, key: string): string {
  return `${namespace}\n${key}`
}

export interface Place {
  readonly namespace: Namespace
  readonly key: string
}

/** Where a command is decided: the key of a lock, or the resource of an operation. */
export function placeOf(command: KeyCommand): Place {
  switch (command.kind) {
    case 'begin':
    case 'finish':
      return { namespace: 'operation', key: command.resource }
    case 'unref':
      return { namespace: 'operation', key: command.resource ?? 'a' }
    case 'cancel':
    case 'force':
      return { namespace: command.namespace ?? 'lock', key: command.key }
    case 'expire':
    case 'leave':
    case 'hang-up':
    case 'entrust':
      return { namespace: 'lock', key: 'a' }
    default:
      return { namespace: 'lock', key: command.key }
  }
}

/** Several keys, both namespaces and the sessions, in plain maps; the law decides on them. */
export class PlainWorld implements Surroundings {
  readonly settings: LawSettings
  readonly showsAllAsDue: boolean
  readonly graph: WaitGraph | undefined
  readonly #law: Law
  readonly #keys: Map<string, KeyState>
  readonly #sessions: Map<string, Session>

  constructor(options: PlainWorldOptions = {}, from?: PlainWorld) {
    this.settings = from?.settings ?? { ...DEFAULT_SETTINGS, ...options.settings }
    this.#law = options.law ?? decide
    this.showsAllAsDue = options.showsAllAsDue ?? false
    this.graph = (options.seesAllKeys ?? true) ? this.#createGraph() : undefined
    this.#keys = new Map(from ? from.#keys : [])
    this.#sessions = new Map(from ? from.#sessions : [])
  }

  /** A copy that goes its own way; states are immutable and shared. */
  copy(): PlainWorld {
    const { settings, showsAllAsDue } = this
    const seesAllKeys = this.graph !== undefined
    return new PlainWorld({ settings, showsAllAsDue, seesAllKeys, law: this.#law }, this)
  }

  state(namespace: Namespace, key: string): KeyState {
    return this.#keys.get(addressOf(namespace, key)) ?? emptyKey(namespace, key)
  }

  states(): Iterable<KeyState> {
    return this.#keys.values()
  }

  view(namespace: Namespace, key: string): KeyView {
    return new PlainView(this.state(namespace, key), this)
  }

  session(id: string): Session | undefined {
    return this.#sessions.get(id)
  }

  setSession(session: Session): void {
    this.#sessions.set(session.id, session)
  }

  removeSession(id: string): void {
    this.#sessions.delete(id)
  }

  /** The law decides, and what it decides happens. */
  run(command: KeyCommand, nowMs: number, place: Place = placeOf(command)): Decision {
    const { namespace, key } = place
    const decision = this.#law(this.view(namespace, key), command, nowMs)
    this.setState(applyChanges(this.state(namespace, key), decision.changes))
    return decision
  }

  setState(state: KeyState): void {
    this.#keys.set(addressOf(state.namespace, state.key), state)
  }

  #createGraph(): WaitGraph {
    return {
      isWaiting: (party) => this.#waitsOf(party).length > 0,
      waitsOf: (party) => this.#waitsOf(party),
      isEntangled: (view) => this.#entangled(view).length > 0,
      entangled: (view) => this.#entangled(view),
    }
  }

  #lockStates(): readonly KeyState[] {
    return [...this.#keys.values()].filter((state) => state.namespace === 'lock')
  }

  #waitsOf(party: string): readonly { view: KeyView; waiter: Waiter }[] {
    return this.#lockStates().flatMap((state) =>
      state.waiters
        .filter((waiter) => waiter.party === party)
        .map((waiter) => ({ view: new PlainView(state, this), waiter })),
    )
  }

  #entangled({ namespace, key }: KeyView): readonly Waiter[] {
    return this.state(namespace, key).waiters.filter((waiter) =>
      this.#lockStates().some(
        (state) => state.key !== key && state.waiters.some((other) => other.party === waiter.party),
      ),
    )
  }
}
