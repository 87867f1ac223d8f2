import type { Change, HoldSet } from '../../src/law/model/changes.ts'
import type { Acquire, KeyCommand } from '../../src/law/model/commands.ts'
import { type Decision, decide, type Law } from '../../src/law/decide.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'
import type { Hold, KeyView, Waiter } from '../../src/law/model/view.ts'

/** The law with its decisions changed where `change` says so. */
function lawWith(
  change: (decision: Decision, view: KeyView, command: KeyCommand) => Decision,
): Law {
  return (view, command, nowMs) => change(decide(view, command, nowMs), view, command)
}

/** The law as it decides on a key that looks otherwise than it is. */
function lawSeeing(
  seen: (view: KeyView, command: KeyCommand) => Readonly<Record<string, unknown>> | undefined,
): Law {
  return (view, command, nowMs) => {
    const other = seen(view, command)
    return decide(other === undefined ? view : overlay(view, other), command, nowMs)
  }
}

function overlay(view: KeyView, other: Readonly<Record<string, unknown>>): KeyView {
  return new Proxy(view, {
    get: (target, name) => {
      if (typeof name === 'string' && name in other) return other[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function withChanges(decision: Decision, changes: readonly Change[]): Decision {
  return { changes, outcome: decision.outcome, events: decision.events }
}

function withOutcome(decision: Decision, outcome: Outcome): Decision {
  return { changes: decision.changes, outcome, events: decision.events }
}

function mapHolds(decision: Decision, map: (change: HoldSet) => HoldSet): Decision {
  const changes = decision.changes.map((change) =>
    change.kind === 'hold-set' ? map(change) : change,
  )
  return withChanges(decision, changes)
}

const without = (decision: Decision, ...kinds: readonly Change['kind'][]): Decision =>
  withChanges(
    decision,
    decision.changes.filter(({ kind }) => !kinds.includes(kind)),
  )

const nothing = (outcome: Outcome): Decision => ({ changes: [], outcome, events: [] })

const isStranger = (view: KeyView, command: KeyCommand): command is Acquire =>
  command.kind === 'acquire' && view.hold(command.owner) === undefined

function lastOf(view: KeyView, lane: number): Waiter | undefined {
  let last = view.head(lane)
  for (let next = last; next !== undefined; next = view.next(next)) last = next
  return last
}

const reviving: Law = (view, command, nowMs) => {
  const decision = decide(view, command, nowMs)
  if (command.kind !== 'renew' || decision.outcome.kind !== 'refused') return decision
  const { owner, ttlMs, token = 1 } = command
  const hold: Hold = {
    ...{ owner, party: owner, session: undefined, meta: undefined, operation: undefined },
    ...{ reads: 0, writes: 1, token, ttlMs, sinceMs: nowMs, leaseAtMs: nowMs + ttlMs },
    steps: [{ requestId: 'revived', mode: 'write', claimByMs: null }],
  }
  const outcome: Outcome = { kind: 'renewed', token, leaseMs: ttlMs }
  return { changes: [{ kind: 'hold-set', hold, leaseOnly: false }], outcome, events: [] }
}

let asked = 0
const countingTwice: Law = (view, command, nowMs) => {
  if (command.kind !== 'acquire') return decide(view, command, nowMs)
  asked += 1
  return decide(view, { ...command, requestId: `${command.requestId}#${asked}` }, nowMs)
}

/** Laws that are wrong in one respect, and the properties by which that is to be noticed. */
export const WRONG_LAWS: readonly (readonly [name: string, law: Law, property: RegExp])[] = [
  [
    'a new hold gets the token of the last one',
    lawWith((decision, view) =>
      mapHolds(decision, (change) => {
        const isNew = view.hold(change.hold.owner) === undefined
        const token = Math.max(1, view.token)
        return isNew ? { ...change, hold: { ...change.hold, token } } : change
      }),
    ),
    /S2/,
  ],
  [
    'a late copy of a request that joined an operation begins it anew',
    lawWith((decision) =>
      mapHolds(decision, (change) => {
        const steps = change.hold.steps.map((step) => ({ ...step, joined: undefined }))
        return { ...change, hold: { ...change.hold, steps } }
      }),
    ),
    /S6/,
  ],
  [
    'a silent client loses holds whose leases last',
    lawSeeing((_, { kind }) => (kind === 'leave' ? { session: () => undefined } : undefined)),
    /S17/,
  ],
  [
    'a hold of a dead client outlives its lease',
    lawSeeing((view, { kind }) => {
      if (kind !== 'expire') return undefined
      const inNoSession = ({ session }: Hold): boolean => session === undefined
      return { dueHolds: (nowMs: number) => [...view.dueHolds(nowMs)].filter(inNoSession) }
    }),
    /L3/,
  ],
  [
    'an upgrade keeps its token',
    lawWith((decision, view) =>
      mapHolds(decision, (change) => {
        const { token } = view.hold(change.hold.owner) ?? change.hold
        return { ...change, hold: { ...change.hold, token } }
      }),
    ),
    /S2/,
  ],
  [
    'two readers wait for each other to upgrade',
    lawSeeing((_, { kind }) => (kind === 'acquire' ? { upgraders: [] } : undefined)),
    /L5/,
  ],
  [
    'a writer is let in beside readers',
    lawSeeing((view, command) =>
      isStranger(view, command) && view.writer === undefined ? { holdCount: 0 } : undefined,
    ),
    /S1w/,
  ],
  [
    'a newcomer passes the queue',
    lawSeeing((view, command) => (isStranger(view, command) ? { queueLength: 0 } : undefined)),
    /S11|S22/,
  ],
  [
    'the last to come is served first',
    lawSeeing((view) => ({ head: (lane: number) => lastOf(view, lane) })),
    /S11/,
  ],
  ['a renewal revives what has expired', reviving, /S2|S1w|S17|S22|history/],
  [
    'anyone may release',
    (view, command, nowMs) => {
      const [holder] = view.holds()
      const isForeign = command.kind === 'release' && view.hold(command.owner) === undefined
      if (!isForeign || holder === undefined) return decide(view, command, nowMs)
      const { key } = command
      return decide(view, { kind: 'release', key, owner: holder.owner }, nowMs)
    },
    /S17|S22|history/,
  ],
  [
    'a release wakes nobody',
    lawWith((decision, _, command) =>
      command.kind === 'release' ? without(decision, 'hold-set', 'waiter-gone') : decision,
    ),
    /L5|S22/,
  ],
  [
    'a lease never ends',
    (view, command, nowMs) =>
      command.kind === 'expire'
        ? nothing({ kind: 'swept', count: 0 })
        : decide(view, command, nowMs),
    /L3/,
  ],
  [
    'a lease is shorter than was asked for',
    lawWith((decision) =>
      mapHolds(decision, (change) => {
        const { hold } = change
        return { ...change, hold: { ...hold, leaseAtMs: hold.leaseAtMs - hold.ttlMs / 2 } }
      }),
    ),
    /S17/,
  ],
  [
    'holders are told of a longer lease than they have',
    lawWith((decision) => {
      const { outcome } = decision
      if (outcome.kind !== 'granted' && outcome.kind !== 'renewed') return decision
      return withOutcome(decision, { ...outcome, leaseMs: outcome.leaseMs * 20 })
    }),
    /S1 exclusion/,
  ],
  ['asking twice counts twice', countingTwice, /history: at-most-once|S6|L10|S12|S22/],
  [
    'a cancelled request keeps its place',
    lawWith((decision, _, command) =>
      command.kind === 'cancel' ? nothing({ kind: 'cancelled', cancelled: true }) : decision,
    ),
    /S12/,
  ],
  [
    'a place in the queue is promised and not given',
    lawWith((decision) => without(decision, 'waiter-added')),
    /L10|S22|history/,
  ],
  [
    'work is skipped that nobody did',
    lawWith((decision, _, command) => {
      const isFirst = command.kind === 'begin' && decision.outcome.kind === 'granted'
      return isFirst && command.type === 'build'
        ? nothing({ kind: 'skip', value: undefined })
        : decision
    }),
    /history: skip/,
  ],
  [
    'a successful pull leaves no reference',
    lawWith((decision) => without(decision, 'reference-set')),
    /history: (references|delete)/,
  ],
  ['a delete does not look at references', lawSeeing(() => ({ referenceCount: 0 })), /S15|S22/],
  [
    'a success is never forgotten',
    lawWith((decision) =>
      withChanges(
        decision,
        decision.changes.flatMap((change): Change[] => {
          if (change.kind === 'success-forgotten') return []
          if (change.kind !== 'success-remembered') return [change]
          return [{ ...change, remembered: { ...change.remembered, untilMs: Infinity } }]
        }),
      ),
    ),
    /L9|history: (skip|references|delete)/,
  ],
  [
    'holds are not written to the journal',
    lawWith((decision) => mapHolds(decision, (change) => ({ ...change, leaseOnly: true }))),
    /S16/,
  ],
]
