import { decide } from '../../src/law/decide.ts'
import type { Ended, KeyView, Session } from '../../src/law/model/view.ts'
import { altering, blindTo, mistaking, seeing, without } from './law-surgery.ts'
import { lawMutant, type Mutant } from './mutant.ts'

/** A record of the engine shows more than a spread of it would. */
function seen({ id, graceMs, heardAtMs, keepsLeases }: Session): Session {
  return { id, graceMs, heardAtMs, keepsLeases }
}

/** Wrong about what was asked before, and about who is still connected. */
export const REQUEST_MUTANTS: readonly Mutant[] = [
  lawMutant(
    {
      name: 'retry-counts-twice',
      fault: 'a retry after a lost answer enters again, and one release is not enough',
      killedBy: 'idempotency: a grant that is asked for again is the same grant',
    },
    () => {
      let retries = 0
      return (view, command, nowMs) => {
        if (command.kind !== 'acquire') return decide(view, command, nowMs)
        const steps = view.hold(command.owner)?.steps ?? []
        const isRetry = steps.some(({ requestId }) => requestId === command.requestId)
        retries += isRetry ? 1 : 0
        const requestId = isRetry ? `${command.requestId}-${retries}` : command.requestId
        return decide(view, { ...command, requestId }, nowMs)
      }
    },
  ),
  lawMutant(
    {
      name: 'retry-queues-twice',
      fault: 'every retry is one more entry in the queue',
      killedBy: 'idempotency: asking again while waiting does not queue twice',
    },
    () => {
      let retries = 0
      return (view, command, nowMs) => {
        if (command.kind !== 'acquire') return decide(view, command, nowMs)
        const isRetry = view.waiter(command.owner, command.requestId) !== undefined
        retries += isRetry ? 1 : 0
        const requestId = isRetry ? `${command.requestId}-${retries}` : command.requestId
        return decide(view, { ...command, requestId }, nowMs)
      }
    },
  ),
  lawMutant(
    {
      name: 'retry-loses-its-place',
      fault: 'a poll puts the waiter at the end of the queue',
      killedBy: 'idempotency: asking again while waiting does not queue twice',
    },
    altering(['acquire'], ({ changes, outcome }, _, view) => {
      if (outcome.kind !== 'queued') return {}
      const moved = changes.flatMap((change) => {
        if (change.kind !== 'waiter-kept') return [change]
        const { waiter } = change
        const gone = { kind: 'waiter-gone' as const, waiter: change.before, answer: outcome }
        return [gone, { kind: 'waiter-added' as const, waiter }]
      })
      return { changes: moved, outcome: { kind: 'queued', position: view.queueLength } }
    }),
  ),
  lawMutant(
    {
      name: 'late-copy-holds',
      fault:
        'a copy of a refused request arrives late and takes the lock, and nobody knows (Jepsen, etcd)',
      killedBy: 'idempotency: a late copy of a refused request never holds',
    },
    altering(['acquire'], ({ changes }) => ({ changes: without(changes, 'end-remembered') })),
  ),
  lawMutant(
    {
      name: 'released-request-holds-again',
      fault: 'a copy of the acquire arrives after the release and takes the lock again',
      killedBy: 'idempotency: a request that was released does not hold again',
    },
    blindTo(['acquire'], () => ({ ended: () => undefined })),
  ),
  lawMutant(
    {
      name: 'release-counts-twice',
      fault: 'a retry of a release gives up one step more',
      killedBy: 'idempotency: a release that is sent again releases once',
    },
    mistaking('release', (command) => ({ ...command, requestId: undefined })),
  ),
  lawMutant(
    {
      name: 'refused-release-ends-the-next',
      fault: 'a copy of a release that came too late comes once more, and ends the next hold',
      killedBy: 'idempotency: a late copy of a refused release does not end the next hold',
    },
    altering(['release'], ({ changes, outcome }) =>
      outcome.kind === 'refused' ? { changes: without(changes, 'end-remembered') } : {},
    ),
  ),
  lawMutant(
    {
      name: 'ids-of-all-owners',
      fault: 'request ids are remembered for the key, and one client is answered what another did',
      killedBy: 'idempotency: request ids belong to their key and their owner',
    },
    () => {
      const ends = new Map<string, Ended>()
      return (view, command, nowMs) => {
        const ended: KeyView['ended'] = (verb, owner, id) =>
          verb === 'acquire' ? ends.get(id) : view.ended(verb, owner, id)
        const decision = decide(seeing(view, { ended }), command, nowMs)
        for (const change of decision.changes) {
          if (change.kind === 'end-remembered') ends.set(change.ended.requestId, change.ended)
        }
        return decision
      }
    },
  ),
  lawMutant(
    {
      name: 'mode-not-compared',
      fault: 'the same request id in another mode is answered with the old grant',
      killedBy: 'idempotency: the same id in another mode is a bad request',
    },
    mistaking('acquire', (command, view) => {
      const steps = view.hold(command.owner)?.steps ?? []
      const step = steps.find(({ requestId }) => requestId === command.requestId)
      return { ...command, mode: step?.mode ?? command.mode }
    }),
  ),
  lawMutant(
    {
      name: 'ends-not-bounded',
      fault: 'the memory of ended requests forgets the latest first',
      killedBy: 'idempotency: a key remembers a bounded number of ends, the latest',
    },
    () => {
      let remembered = 0
      return (view, command, nowMs) => {
        const decision = decide(view, command, nowMs)
        const ends = decision.changes.filter(({ kind }) => kind === 'end-remembered').length
        remembered += ends
        if (remembered <= 64) return decision
        return { ...decision, changes: without(decision.changes, 'end-remembered') }
      }
    },
  ),
  lawMutant(
    {
      name: 'session-end-keeps-holds',
      fault: 'the holds of a client that said good-bye stand until their leases pass',
      killedBy: 'sessions: a spoken good-bye ends a session at once',
    },
    blindTo(['leave'], () => ({ holdsIn: () => [] })),
  ),
  lawMutant(
    {
      name: 'session-end-keeps-waiters',
      fault: 'who has left is still in the queue and is granted the lock',
      killedBy: 'sessions: a waiter of a silent client leaves the queue after the grace',
    },
    blindTo(['leave'], () => ({ waitersIn: () => [] })),
  ),
  lawMutant(
    {
      name: 'session-end-takes-all',
      fault: 'the end of one session ends the holds of others on the same key',
      killedBy: 'sessions: a session ends only what is its own',
    },
    () => (view, command, nowMs) => {
      if (command.kind !== 'leave') return decide(view, command, nowMs)
      const forced = decide(view, { kind: 'force', key: view.key }, nowMs)
      return { ...forced, outcome: { kind: 'swept', count: view.holdCount } }
    },
  ),
  lawMutant(
    {
      name: 'grace-overrides-ttl',
      fault: 'a client that is silent for the grace loses holds whose leases have not run out',
      killedBy: 'sessions: a silent client keeps each hold until its own lease runs out',
    },
    blindTo(['leave'], () => ({ session: () => undefined })),
  ),
  lawMutant(
    {
      name: 'stream-keeps-holds',
      fault: 'the holds of a stream session outlive its streams by as long as their leases last',
      killedBy: 'sessions: a stream session ends with the grace, and its holds with it',
    },
    blindTo(['leave'], (view) => ({
      session: (id) => {
        const session = view.session(id)
        return session && { ...seen(session), keepsLeases: true }
      },
    })),
  ),
  lawMutant(
    {
      name: 'session-not-checked',
      fault: 'a lock is granted to a client whose session has ended (CURATOR-498)',
      killedBy: 'sessions: nothing is granted in a session that is not there',
    },
    mistaking('acquire', ({ session, ...command }, view) =>
      session === undefined || view.session(session) === undefined
        ? command
        : { ...command, session },
    ),
  ),
  lawMutant(
    {
      name: 'session-leaves-leases-alone',
      fault: 'heartbeats keep the session, but its locks expire under a living client',
      killedBy: 'sessions: a heartbeat renews every hold for its own ttl',
    },
    blindTo(['expire', 'acquire'], (view) => ({
      session: (id) => {
        const session = view.session(id)
        return session && { ...seen(session), keepsLeases: false }
      },
    })),
  ),
]
