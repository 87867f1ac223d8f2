import { decide } from '../../src/law/decide.ts'
import { altering, alterHolds, blindTo, mistaking, seeing, without } from './law-surgery.ts'
import { lawMutant, type Mutant } from './mutant.ts'

/** Wrong about who is next, who is told, and who is still there. */
export const QUEUE_MUTANTS: readonly Mutant[] = [
  lawMutant(
    {
      name: 'last-come-first-served',
      fault: 'the queue is a stack',
      killedBy: 'queue order: waiters are granted in the order in which they came',
    },
    blindTo(['release'], (view) => ({
      head: (lane) => {
        let last = view.head(lane)
        for (let next = last; next !== undefined; next = view.next(next)) last = next
        return last
      },
    })),
  ),
  lawMutant(
    {
      name: 'barging',
      fault: 'a request that does not wait passes those that do',
      killedBy: 'queue order: a request without a wait does not pass the queue',
    },
    blindTo(['acquire'], (_, { waitMs = 0 }) => (waitMs === 0 ? { queueLength: 0 } : {})),
  ),
  lawMutant(
    {
      name: 'readers-pass-writers',
      fault: 'readers enter beside readers while a writer waits, and the writer starves',
      killedBy: 'queue order: a reader that waits does not pass a queued writer',
    },
    blindTo(['acquire'], (_, { mode }) => (mode === 'read' ? { queueLength: 0 } : {})),
  ),
  lawMutant(
    {
      name: 'one-reader-at-a-time',
      fault: 'a hand-over wakes one waiter only, although more readers could enter with it',
      killedBy: 'queue order: readers that stand together are granted together',
    },
    altering(['release'], ({ changes }) => {
      const granted = changes.filter((change) => change.kind === 'waiter-gone').slice(1)
      const owners = new Set(granted.map(({ waiter }) => waiter.owner))
      return {
        changes: changes.filter((change) => {
          if (change.kind === 'waiter-gone') return !owners.has(change.waiter.owner)
          return change.kind !== 'hold-set' || !owners.has(change.hold.owner)
        }),
      }
    }),
  ),
  lawMutant(
    {
      name: 'readers-without-limit',
      fault: 'a hand-over lets everyone in who reads, however many they are',
      killedBy: 'limits and bad input: readers that are too many wait for room in their order',
    },
    blindTo(['release'], ({ settings }) => ({
      settings: { ...settings, holdersPerKeyMax: Infinity },
    })),
  ),
  lawMutant(
    {
      name: 'wake-up-lost-on-release',
      fault: 'the message that the lock is free is missed, and the waiter hangs (Redisson 5761)',
      killedBy: 'wake-up: a release wakes the next waiter',
    },
    blindTo(['release'], () => ({ queueLength: 0 })),
  ),
  lawMutant(
    {
      name: 'wake-up-lost-on-expiry',
      fault: 'a lock that expired is free, but nobody tells those who wait',
      killedBy: 'expiry: a waiter is granted when the lease before it has passed',
    },
    blindTo(['expire'], () => ({ queueLength: 0 })),
  ),
  lawMutant(
    {
      name: 'wake-up-lost-on-cancel',
      fault: 'a writer that leaves the queue does not let in the readers behind it',
      killedBy: 'queue order: readers behind a writer that leaves are granted at once',
    },
    blindTo(['cancel'], () => ({ queueLength: 0 })),
  ),
  lawMutant(
    {
      name: 'wake-up-lost-on-force',
      fault: 'an operator ends a hold and the queue does not notice',
      killedBy: 'wake-up: an operator that ends a hold wakes the next waiter',
    },
    blindTo(['force'], () => ({ queueLength: 0 })),
  ),
  lawMutant(
    {
      name: 'lower-lane-starves',
      fault: 'a busy higher lane is always served first',
      killedBy: 'lanes: a lower lane has its turn after it was passed eight times',
    },
    altering(['release'], ({ changes }) => ({ changes: without(changes, 'lane-passed') })),
  ),
  lawMutant(
    {
      name: 'lanes-ignored',
      fault: 'all lanes are one queue',
      killedBy: 'lanes: a higher lane is served first',
    },
    mistaking('acquire', (command) => ({ ...command, lane: undefined })),
  ),
  lawMutant(
    {
      name: 'two-upgraders-wait',
      fault: 'two readers wait for each other to become the writer, for ever',
      killedBy: 'upgrade: a second upgrade is refused at once and keeps its read hold',
    },
    blindTo(['acquire'], () => ({ upgraders: [] })),
  ),
  lawMutant(
    {
      name: 'upgrade-beside-readers',
      fault: 'a reader becomes the writer while others still read',
      killedBy: 'upgrade: beside other readers an upgrade without a wait is refused',
    },
    blindTo(['acquire'], (view, { owner }) =>
      view.hold(owner) === undefined ? {} : { holdCount: 1 },
    ),
  ),
  lawMutant(
    {
      name: 'upgrade-queues-behind',
      fault: 'an upgrade waits behind a writer, which waits for the reader that upgrades',
      killedBy: 'upgrade: an upgrade waits ahead of every ordinary waiter',
    },
    altering(['acquire'], ({ changes }) => ({
      changes: changes.map((change) =>
        change.kind === 'waiter-added'
          ? { ...change, waiter: { ...change.waiter, upgrade: false } }
          : change,
      ),
    })),
  ),
  lawMutant(
    {
      name: 'writer-between-downgrade',
      fault: 'a downgrade gives the lock up before it takes it again for reading',
      killedBy: 're-entry: a downgrade lets readers in and no writer between',
    },
    () => (view, command, nowMs) => {
      const decision = decide(view, command, nowMs)
      const { outcome } = decision
      const isDowngrade = outcome.kind === 'released' && outcome.writes === 0 && outcome.reads > 0
      if (command.kind !== 'release' || !isDowngrade) return decision
      const { key, owner } = command
      return { ...decide(view, { kind: 'force', key, owner }, nowMs), outcome }
    },
  ),
  lawMutant(
    {
      name: 'vanished-waiter-granted',
      fault: 'a waiter whose own lease passed while it waited is told that it holds (etcd 11456)',
      killedBy: 'claim: a waiter that does not ask for too long is taken for gone',
    },
    blindTo(['expire', 'release', 'acquire'], () => ({ dueWaiters: () => [] })),
  ),
  lawMutant(
    {
      name: 'dead-head-blocks',
      fault: 'a grant that nobody takes blocks the queue for a whole lease',
      killedBy: 'claim: a dead head costs the queue its claim window and no more',
    },
    altering(['release'], ({ changes }) => ({
      changes: alterHolds(changes, (hold) => ({
        ...hold,
        steps: hold.steps.map((step) => ({ ...step, claimByMs: null })),
      })),
    })),
  ),
  lawMutant(
    {
      name: 'claim-not-noticed',
      fault: 'a grant is taken away although its owner asked for it in time',
      killedBy: 'claim: a grant is taken by asking',
    },
    altering(['acquire', 'renew'], ({ changes }, { owner }, view) => {
      const before = view.hold(owner)
      return {
        changes: alterHolds(changes, (hold) =>
          before === undefined ? hold : { ...hold, steps: before.steps },
        ),
      }
    }),
  ),
  lawMutant(
    {
      name: 'cancel-does-nothing',
      fault: 'a cancelled wait is answered, but stays in the queue',
      killedBy: 'cancel and time-out: a cancelled wait is refused and gives up its place',
    },
    altering(['cancel'], () => ({ changes: [], outcome: { kind: 'cancelled', cancelled: true } })),
  ),
  lawMutant(
    {
      name: 'cancel-loses-against-grant',
      fault:
        'a grant that was made just before the cancel is left standing, with nobody to release it',
      killedBy: 'cancel and time-out: a cancel undoes a grant that was not yet taken',
    },
    altering(['cancel'], (_, { owner }, view) =>
      view.hold(owner) === undefined ? {} : { changes: [] },
    ),
  ),
  lawMutant(
    {
      name: 'cancel-takes-too-much',
      fault: 'a cancel of a wait also ends what its owner holds',
      killedBy:
        'cancel and time-out: a cancel without a request id leaves what was granted directly',
    },
    () => (view, command, nowMs) => {
      if (command.kind !== 'cancel' || view.hold(command.owner) === undefined) {
        return decide(view, command, nowMs)
      }
      const { key, owner } = command
      const forced = decide(view, { kind: 'force', key, owner }, nowMs)
      return { ...forced, outcome: { kind: 'cancelled', cancelled: true } }
    },
  ),
  lawMutant(
    {
      name: 'deadlock-not-seen',
      fault: 'two clients that wait for each other wait for ever',
      killedBy: 'deadlock: two that wait for each other are told so',
    },
    () => (view, command, nowMs) => decide(seeing(view, { graph: undefined }), command, nowMs),
  ),
]
