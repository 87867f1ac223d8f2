import type { KeyCommand } from '../../../src/law/model/commands.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import { DEFAULT_SETTINGS } from '../../../src/engine/validation/default-settings.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { Namespace, Session } from '../../../src/law/model/view.ts'
import { acquire, cancel, entrust, hangUp, release, renew } from './naive-locks.ts'
import { begin, finish, unref } from './naive-operations.ts'
import { endHold, leave, moveQueue, refused, removeDue } from './naive-queue.ts'
import {
  copyNaiveKey,
  emptyNaiveKey,
  type NaiveKey,
  type NaiveWorld,
  type Settled,
  type Turn,
} from './naive-state.ts'

export interface NaiveAnswer {
  readonly outcome: Outcome
  readonly settled: readonly Settled[]
}

/** The second model of the law: whole states, plain lists, no regard for speed. */
export class NaiveModel implements NaiveWorld {
  readonly settings: LawSettings
  readonly seesAllKeys: boolean
  readonly keys: Map<string, NaiveKey> = new Map()
  readonly sessions: Map<string, Session> = new Map()

  constructor(settings: Partial<LawSettings> = {}, seesAllKeys = true) {
    this.settings = { ...DEFAULT_SETTINGS, ...settings }
    this.seesAllKeys = seesAllKeys
  }

  copy(): NaiveModel {
    const copy = new NaiveModel(this.settings, this.seesAllKeys)
    for (const [address, key] of this.keys) copy.keys.set(address, copyNaiveKey(key))
    for (const [id, session] of this.sessions) copy.sessions.set(id, session)
    return copy
  }

  key(namespace: Namespace, name: string): NaiveKey {
    const address = `${namespace}\n${name}`
    const key = this.keys.get(address) ?? emptyNaiveKey()
    this.keys.set(address, key)
    return key
  }

  run(command: KeyCommand, now: number, place: { namespace: Namespace; key: string }): NaiveAnswer {
    const settled: Settled[] = []
    const key = this.key(place.namespace, place.key)
    const turn: Turn = { world: this, key, now, settled }
    const gone = removeDue(turn)
    return { outcome: answer(turn, command, gone), settled }
  }
}

function answer(turn: Turn, command: KeyCommand, gone: number): Outcome {
  switch (command.kind) {
    case 'acquire':
      return acquire(turn, command)
    case 'release':
      return release(turn, command)
    case 'renew':
      return renew(turn, command)
    case 'cancel':
      return cancel(turn, command)
    case 'hang-up':
      return hangUp(turn, command.owner)
    case 'entrust':
      return entrust(turn, command.owner, command.requestId)
    case 'begin':
      return begin(turn, command)
    case 'finish':
      return finish(turn, command)
    case 'unref':
      return unref(turn, command.node)
    case 'force':
      return force(turn, command.owner)
    case 'expire':
      return { kind: 'swept', count: gone }
    case 'leave':
      return leaveSession(turn, command.session)
  }
}

function force(turn: Turn, owner: string | undefined): Outcome {
  const holds = turn.key.holds.filter((hold) => owner === undefined || hold.owner === owner)
  for (const hold of holds) endHold(turn, hold, 'forced')
  moveQueue(turn)
  return { kind: 'forced', count: holds.length }
}

/** An ended session loses all. A silent client loses its places, and in a stream session its holds too. */
function leaveSession(turn: Turn, id: string): Outcome {
  const session = turn.world.sessions.get(id)
  const isSilent = session !== undefined && turn.now - session.heardAtMs >= session.graceMs
  const hasEnded = session === undefined || (isSilent && !session.keepsLeases)
  const isOurs = (one: { session: string | undefined }): boolean => one.session === id
  const waiters = hasEnded || isSilent ? turn.key.queue.filter(isOurs) : []
  const holds = hasEnded ? turn.key.holds.filter(isOurs) : []
  for (const waiter of waiters) leave(turn, waiter, refused('disconnected'))
  for (const hold of holds) endHold(turn, hold, 'disconnected')
  moveQueue(turn)
  return { kind: 'swept', count: waiters.length + holds.length }
}
