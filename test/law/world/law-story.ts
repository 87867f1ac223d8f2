import type {
  Acquire,
  Begin,
  Finish,
  KeyCommand,
  Release,
  SessionCommand,
} from '../../../src/law/model/commands.ts'
import type { Decision } from '../../../src/law/decide.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import { decideSession } from '../../../src/law/sessions.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { Mode, Namespace } from '../../../src/law/model/view.ts'
import { type KeyState, servingOrder } from './plain-view.ts'
import { type Place, PlainWorld, placeOf } from './plain-world.ts'

/** What somebody who waited was told. */
export interface Told {
  readonly owner: string
  readonly answer: Outcome
}

/**
 * The law on a few keys with a clock that moves when told to, for tests that read like the sentences
 * they prove. Locks are on key `a` unless another is named, operations on resource `a`.
 */
export class LawStory {
  readonly world: PlainWorld
  nowMs = 1_000_000
  /** What those who waited have been told, in order. */
  readonly told: Told[] = []
  #serial = 0
  #last: Decision | undefined

  constructor(settings: Partial<LawSettings> = {}) {
    this.world = new PlainWorld({ settings })
  }

  /** The latest decision, for tests about changes and events. */
  get last(): Decision {
    if (this.#last === undefined) throw new Error('nothing has been decided')
    return this.#last
  }

  run(command: KeyCommand, place: Place = placeOf(command)): Outcome {
    const decision = this.world.run(command, this.nowMs, place)
    this.#last = decision
    for (const change of decision.changes) {
      if (change.kind !== 'waiter-gone') continue
      this.told.push({ owner: change.waiter.owner, answer: change.answer })
    }
    return decision.outcome
  }

  tick(ms: number): void {
    this.nowMs += ms
  }

  /** Time passes, and the engine sees to what is due. */
  pass(ms: number, namespace: Namespace = 'lock'): Outcome {
    this.tick(ms)
    return this.run({ kind: 'expire' }, { namespace, key: 'a' })
  }

  /** Ask and do not wait. */
  acquire(owner: string, mode: Mode = 'write', options: Partial<Acquire> = {}): Outcome {
    this.#serial += 1
    const requestId = `${owner}-${this.#serial}`
    return this.run({ kind: 'acquire', key: 'a', owner, requestId, mode, ...options })
  }

  /** Ask and wait for as long as it takes. */
  wait(owner: string, mode: Mode = 'write', options: Partial<Acquire> = {}): Outcome {
    return this.acquire(owner, mode, { waitMs: Infinity, ...options })
  }

  release(owner: string, options: Partial<Release> = {}): Outcome {
    return this.run({ kind: 'release', key: 'a', owner, ...options })
  }

  renew(owner: string, ttlMs: number, token?: number): Outcome {
    return this.run({ kind: 'renew', key: 'a', owner, ttlMs, token })
  }

  cancel(owner: string, requestId?: string): Outcome {
    return this.run({ kind: 'cancel', key: 'a', owner, requestId })
  }

  begin(type: string, node: string, options: Partial<Begin> = {}): Outcome {
    return this.run({ kind: 'begin', type, node, resource: 'a', ...options })
  }

  finish(type: string, node: string, options: Partial<Finish> = {}): Outcome {
    return this.run({ kind: 'finish', type, node, resource: 'a', success: true, ...options })
  }

  /** As an engine does it: the record first, then every key that the session had a part in. */
  session(command: SessionCommand): Outcome {
    const { session, outcome } = decideSession(
      this.world.session(command.session),
      command,
      this.nowMs,
    )
    if (session) this.world.setSession(session)
    if (session !== null) return outcome
    this.world.removeSession(command.session)
    for (const { namespace, key } of [...this.world.states()]) {
      this.run({ kind: 'leave', session: command.session }, { namespace, key })
    }
    return outcome
  }

  state(key = 'a', namespace: Namespace = 'lock'): KeyState {
    return this.world.state(namespace, key)
  }

  /** `owner` for every holder, in grant order. */
  holders(key = 'a', namespace: Namespace = 'lock'): readonly string[] {
    return this.state(key, namespace).holds.map((hold) => hold.owner)
  }

  /** `owner` for every waiter, in the order in which they would be served. */
  queue(key = 'a', namespace: Namespace = 'lock'): readonly string[] {
    return servingOrder(this.state(key, namespace).waiters).map((waiter) => waiter.owner)
  }
}
