import { acquire } from './acquire.ts'
import { unreachable } from './assert.ts'
import { cancel, entrust, hangUp, leave } from './cancel.ts'
import type { KeyCommand } from './model/commands.ts'
import { type Decision, Draft } from './draft.ts'
import { expire } from './expire.ts'
import { begin, finish, unref } from './operations.ts'
import { force, release, renew } from './release.ts'
import { decideFast } from './fast-path.ts'
import type { KeyView } from './model/view.ts'

export type { Decision } from './draft.ts'

/** The law as an engine calls it. */
export type Law = typeof decide

/**
 * The law of a lock: from what is seen of a key, a command and the time, to what changes, what is
 * answered and what is told. Nothing else decides anything about a lock, and nothing else goes in.
 */
export function decide(view: KeyView, command: KeyCommand, nowMs: number): Decision {
  return decideFast(view, command, nowMs) ?? decideInFull(view, command, nowMs)
}

/** The whole law. `decideFast` says the same wherever it says anything. */
export function decideInFull(view: KeyView, command: KeyCommand, nowMs: number): Decision {
  const draft = new Draft(view, nowMs)
  const expired = expire(draft)
  switch (command.kind) {
    case 'acquire':
      return acquire(draft, command)
    case 'release':
      return release(draft, command)
    case 'renew':
      return renew(draft, command)
    case 'cancel':
      return cancel(draft, command)
    case 'force':
      return force(draft, command)
    case 'begin':
      return begin(draft, command)
    case 'finish':
      return finish(draft, command)
    case 'unref':
      return unref(draft, command)
    case 'leave':
      return leave(draft, command)
    case 'hang-up':
      return hangUp(draft, command)
    case 'entrust':
      return entrust(draft, command)
    case 'expire':
      return draft.decided({ kind: 'swept', count: expired })
    default:
      return unreachable(command)
  }
}
