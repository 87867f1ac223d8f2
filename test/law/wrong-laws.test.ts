import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/law/model/changes.ts'
import type { KeyCommand } from '../../src/law/model/commands.ts'
import { decide, type Law } from '../../src/law/decide.ts'
import type { KeyView } from '../../src/law/model/view.ts'
import { explore, type Scope } from './world/explore.ts'
import {
  createClaimScope,
  createDeadlockScope,
  createLaneScope,
  createLateReplayScope,
  createLockScope,
  createReplayScope,
} from './world/lock-scopes.ts'
import { createOperationScope } from './world/operation-scopes.ts'

/** The law with some of its changes left out or bent. */
function withChanges(bend: (change: Change) => readonly Change[]): Law {
  return (view, command, nowMs) => {
    const { changes, outcome, events } = decide(view, command, nowMs)
    return { changes: changes.flatMap(bend), outcome, events }
  }
}

/** The law with another idea of what it sees. */
function withView(bend: (view: KeyView, command: KeyCommand) => Partial<KeyView>): Law {
  return (view, command, nowMs) => {
    const bent = bend(view, command)
    const seen = new Proxy(view, {
      get(target, member: keyof KeyView) {
        const value: unknown = member in bent ? bent[member] : target[member]
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    return decide(seen, command, nowMs)
  }
}

function without(kind: Change['kind']): Law {
  return withChanges((change) => (change.kind === kind ? [] : [change]))
}

const operations: Scope = createOperationScope({
  name: 'operations',
  depth: 4,
  types: ['pull', 'delete'],
  nodes: ['m', 'n'],
  versions: [undefined],
})

const named: Scope = createOperationScope({
  name: 'operations with ids',
  depth: 4,
  types: ['pull'],
  nodes: ['m', 'n'],
  versions: [undefined],
  ids: ['i', undefined],
})

const mixed: Scope = createOperationScope({
  name: 'operations of all three kinds',
  depth: 4,
  types: ['pull'],
  nodes: ['m', 'n'],
  versions: [undefined],
  kinds: ['server', 'client', 'mutex'],
})

const WRONG_LAWS: readonly (readonly [string, Scope, Law])[] = [
  [
    'takes a poll for the end of the call that waits',
    operations,
    withChanges((change) =>
      change.kind === 'waiter-kept'
        ? [{ ...change, waiter: { ...change.waiter, connected: false } }]
        : [change],
    ),
  ],
  [
    'forgets who joined an operation',
    named,
    withChanges((change) => {
      if (change.kind !== 'hold-set') return [change]
      const steps = change.hold.steps.map((step) => ({ ...step, joined: undefined }))
      return [{ ...change, hold: { ...change.hold, steps } }]
    }),
  ],
  [
    'forgets the token from before an upgrade that nobody heard of',
    createClaimScope(6),
    withChanges((change) => {
      if (change.kind !== 'hold-set') return [change]
      const steps = change.hold.steps.map((step) => ({ ...step, tokenBefore: undefined }))
      return [{ ...change, hold: { ...change.hold, steps } }]
    }),
  ],
  [
    'does not say how a hold ended',
    createLockScope(4),
    withView(() => ({ lastEnd: () => undefined })),
  ],
  [
    'gives every holder the same token',
    createLockScope(4),
    withChanges((change) =>
      change.kind === 'hold-set' ? [{ ...change, hold: { ...change.hold, token: 1 } }] : [change],
    ),
  ],
  [
    'lets readers pass a queued writer',
    createLockScope(4),
    withView((_, command) => (command.kind === 'acquire' ? { queueLength: 0 } : {})),
  ],
  [
    'ends leases early',
    createLockScope(3),
    (view, command, nowMs) => decide(view, command, nowMs + 500),
  ],
  [
    'revives what has expired',
    createLockScope(5),
    withView(() => ({ hasDue: () => false, dueHolds: () => [] })),
  ],
  ['forgets those who give up', createClaimScope(6), withView(() => ({ dueWaiters: () => [] }))],
  [
    'serves the last who came first',
    createLockScope(5),
    withView((view) => ({
      head: (lane) => {
        let last = view.head(lane)
        for (let next = last; next !== undefined; next = view.next(next)) last = next
        return last
      },
    })),
  ],
  [
    'leaves grants alone that nobody takes',
    createClaimScope(6),
    withView((view) => ({
      dueHolds: (nowMs) => [...view.dueHolds(nowMs)].filter((hold) => hold.leaseAtMs <= nowMs),
    })),
  ],
  ['does not remember how requests ended', createReplayScope(3), without('end-remembered')],
  [
    'does not remember that a release was refused',
    createReplayScope(4),
    withChanges((change) =>
      change.kind === 'end-remembered' &&
      change.ended.verb === 'release' &&
      change.ended.answer.kind === 'refused'
        ? []
        : [change],
    ),
  ],
  ['does not keep the wait of those who ask again', createReplayScope(4), without('waiter-kept')],
  [
    'forgets that a waiter has become an upgrader',
    createLateReplayScope(3),
    withChanges((change) =>
      change.kind === 'waiter-kept' && change.waiter.upgrade ? [] : [change],
    ),
  ],
  ['does not count who is passed', createLaneScope(3), without('lane-passed')],
  ['does not see cycles', createDeadlockScope(4), withView(() => ({ graph: undefined }))],
  [
    'does not see cycles through those ahead in the queue',
    createDeadlockScope(5),
    withView(({ graph }) => ({
      graph: graph && {
        isWaiting: (party) => graph.isWaiting(party),
        waitsOf: (party) => graph.waitsOf(party),
        isEntangled: () => false,
        entangled: () => [],
      },
    })),
  ],
  ['does not count references', operations, without('reference-set')],
  ['deletes what is in use', operations, withView(() => ({ referenceCount: 0 }))],
  [
    'answers those who wait as the one wants it that runs',
    mixed,
    (view, command, nowMs) => {
      const running = view.writer?.operation
      if (command.kind !== 'begin' || running === undefined) return decide(view, command, nowMs)
      return decide(view, { ...command, coordination: running.coordination }, nowMs)
    },
  ],
  ['does not remember successes', operations, without('success-remembered')],
  ['skips what was deleted', operations, without('success-forgotten')],
]

describe('the exploration finds a law out that', () => {
  it.each(WRONG_LAWS)('%s', { timeout: 60_000 }, (_, scope, law) => {
    expect(() => explore(scope, law)).toThrow(/after\n/)
  })

  it('is wrong, and not one that is right', { timeout: 60_000 }, () => {
    expect(() => explore(operations)).not.toThrow()
  })
})
