import { decide } from '../../src/law/decide.ts'
import type { Hold } from '../../src/law/model/view.ts'
import { altering, alterHolds, blindTo, mistaking, withToken } from './law-surgery.ts'
import { lawMutant, type Mutant } from './mutant.ts'

const NOT_SEEN = { holdCount: 0, writer: undefined, queueLength: 0 }

/** Wrong about who holds, under which token, and for how long. */
export const HOLD_MUTANTS: readonly Mutant[] = [
  lawMutant(
    {
      name: 'two-writers',
      fault: 'the lock is taken without looking whether somebody has it',
      killedBy: 'exclusion: a write hold excludes every other owner',
    },
    blindTo(['acquire'], () => NOT_SEEN),
  ),
  lawMutant(
    {
      name: 'writer-beside-readers',
      fault: 'a writer looks for other writers only and enters while others read',
      killedBy: 'exclusion: a read hold excludes writers',
    },
    blindTo(['acquire'], ({ writer, holdCount }, { mode }) =>
      writer === undefined && mode !== 'read' ? { holdCount: Math.min(holdCount, 0) } : {},
    ),
  ),
  lawMutant(
    {
      name: 'reader-beside-writer',
      fault: 'a reader does not look for a writer',
      killedBy: 'exclusion: a write hold excludes every other owner',
    },
    blindTo(['acquire'], (_, { mode }) => (mode === 'read' ? { writer: undefined } : {})),
  ),
  lawMutant(
    {
      name: 'first-owner-for-ever',
      fault: 'a released lock still belongs to whoever had it first (verrou 12)',
      killedBy: 'release and take-over: a release frees the lock',
    },
    altering(['release'], () => ({ changes: [] })),
  ),
  lawMutant(
    {
      name: 'token-starts-again',
      fault: 'the counter of tokens lives in the lock and goes back when that is deleted',
      killedBy: 'fencing: every new hold has a greater token',
    },
    blindTo(['acquire'], ({ holdCount }) => (holdCount === 0 ? { token: 0 } : {})),
  ),
  lawMutant(
    {
      name: 'token-reused',
      fault: 'a new hold has the token of the hold before it',
      killedBy: 'fencing: every new hold has a greater token',
    },
    blindTo(['acquire'], ({ token }) => (token > 0 ? { token: token - 1 } : {})),
  ),
  lawMutant(
    {
      name: 'token-kept-on-upgrade',
      fault: 'a reader that becomes the writer keeps its token, and old reads are not fenced off',
      killedBy: 'fencing: a passage from reading to writing has a greater token',
    },
    altering(['acquire'], (decision, { owner }, view) => {
      const before = view.hold(owner)
      return before === undefined ? {} : withToken(decision, before.token)
    }),
  ),
  lawMutant(
    {
      name: 'token-changed-on-re-entry',
      fault: 'entering again makes a new token, and the work of the outer block is fenced off',
      killedBy: 'fencing: a re-entry keeps its token',
    },
    altering(['acquire'], (decision, { owner }, view) =>
      view.hold(owner) === undefined ? {} : withToken(decision, view.token + 1),
    ),
  ),
  lawMutant(
    {
      name: 'token-shared-by-readers',
      fault: 'all readers have one token between them',
      killedBy: 'fencing: readers that share a lock each have their own token',
    },
    altering(['acquire'], (decision, _, view) => {
      const first = [...view.holds()][0]
      return first === undefined ? {} : withToken(decision, first.token)
    }),
  ),
  lawMutant(
    {
      name: 'lease-shared-by-readers',
      fault: 'one time to live for all readers: whoever comes last lengthens it for all',
      killedBy: 'expiry: a later reader does not lengthen the lease of an earlier one',
    },
    altering(['acquire', 'renew'], ({ changes }, _, view) => {
      const set = changes.find((change) => change.kind === 'hold-set')
      if (set === undefined) return {}
      const { leaseAtMs } = set.hold
      const others = [...view.holds()].filter(({ owner }) => owner !== set.hold.owner)
      const lengthened = others.map((hold) => ({
        kind: 'hold-set' as const,
        leaseOnly: true,
        hold: { ...toPlain(hold), leaseAtMs: Math.max(hold.leaseAtMs, leaseAtMs) },
      }))
      return { changes: [...changes, ...lengthened] }
    }),
  ),
  lawMutant(
    {
      name: 'lease-from-the-request',
      fault: 'the lease of a waiter counts from when it asked, not from when it was granted',
      killedBy: 'expiry: the lease of a waiter begins when it is granted',
    },
    altering(['release'], ({ changes }, _, view) => ({
      changes: alterHolds(changes, (hold) => {
        const waiter = view.waitersOf(hold.owner)[0]
        if (waiter === undefined) return hold
        return { ...hold, leaseAtMs: Math.max(hold.sinceMs + 1, waiter.sinceMs + hold.ttlMs) }
      }),
    })),
  ),
  lawMutant(
    {
      name: 'lease-half-as-long',
      fault: 'a hold ends before its lease has passed',
      killedBy: 'expiry: a lease lasts to its last millisecond and no longer',
    },
    altering(['acquire'], ({ changes }) => ({
      changes: alterHolds(changes, (hold) => ({
        ...hold,
        leaseAtMs: hold.leaseAtMs - hold.ttlMs / 2,
      })),
    })),
  ),
  lawMutant(
    {
      name: 'lease-never-ends',
      fault: 'a holder that died keeps its lock for ever',
      killedBy: 'expiry: a hold stands while its lease runs and is void after it',
    },
    blindTo(['acquire', 'expire'], () => ({ dueHolds: () => [] })),
  ),
  lawMutant(
    {
      name: 're-entry-shortens',
      fault: 'entering again with a shorter lease shortens that of the outer block',
      killedBy: 'expiry: entering again makes a lease later, never earlier',
    },
    altering(['acquire'], ({ changes }, { ttlMs = 30_000, owner }, view) => {
      const before = view.hold(owner)
      if (before === undefined) return {}
      return { changes: alterHolds(changes, (hold) => shortened(hold, before, ttlMs)) }
    }),
  ),
  lawMutant(
    {
      name: 'renew-shortens',
      fault: 'a renewal sets the lease to its own length, even if that is less than what is left',
      killedBy: 'renewal: a renewal never shortens a lease',
    },
    () => (view, command, nowMs) => {
      const decision = decide(view, command, nowMs)
      if (command.kind !== 'renew') return decision
      const leaseAtMs = nowMs + command.ttlMs
      const changes = alterHolds(decision.changes, (hold) => ({ ...hold, leaseAtMs }))
      return { ...decision, changes }
    },
  ),
  lawMutant(
    {
      name: 'renew-revives',
      fault:
        'a renewal takes an expired lock again instead of saying that it is lost (redis-semaphore 175)',
      killedBy: 'renewal: a renewal does not revive a hold that has expired',
    },
    () => (view, command, nowMs) => {
      if (command.kind !== 'renew' || view.holdCount > 0) return decide(view, command, nowMs)
      const { key, owner, ttlMs } = command
      const taken = decide(
        view,
        { kind: 'acquire', key, owner, ttlMs, requestId: 'renewal' },
        nowMs,
      )
      return { ...taken, outcome: { kind: 'renewed', token: view.token + 1, leaseMs: ttlMs } }
    },
  ),
  lawMutant(
    {
      name: 'stale-token-accepted',
      fault: 'the token of a request is not compared with that of the hold',
      killedBy:
        'release and take-over: an earlier token of the same owner cannot release its later hold',
    },
    mistaking('release', (command) => ({ ...command, token: undefined })),
  ),
  lawMutant(
    {
      name: 'stale-token-renews',
      fault: 'a renewal with the token of a lost hold keeps the next hold alive',
      killedBy: 'renewal: a renewal with an earlier token is refused and changes nothing',
    },
    mistaking('renew', (command) => ({ ...command, token: undefined })),
  ),
  lawMutant(
    {
      name: 'stale-owner-releases',
      fault: 'the lock is deleted by its key, whoever has it by now',
      killedBy: 'release and take-over: a stale owner cannot release a lock it lost',
    },
    mistaking('release', (command, { writer }) => ({
      ...command,
      token: undefined,
      owner: writer?.owner ?? command.owner,
    })),
  ),
  lawMutant(
    {
      name: 'release-below-zero',
      fault: 'a release of what is not held is answered as if it were',
      killedBy: 'release and take-over: a second release finds nothing to release',
    },
    altering(['release'], ({ outcome }) =>
      outcome.kind === 'refused' ? { outcome: { kind: 'released', reads: 0, writes: 0 } } : {},
    ),
  ),
  lawMutant(
    {
      name: 'release-ends-all',
      fault: 'the inner block of a re-entrant lock frees it for all',
      killedBy: 're-entry: a lock is free when it was left as often as it was entered',
    },
    () => (view, command, nowMs) => {
      const decision = decide(view, command, nowMs)
      if (command.kind !== 'release' || decision.outcome.kind !== 'released') return decision
      const { key, owner } = command
      return { ...decide(view, { kind: 'force', key, owner }, nowMs), outcome: decision.outcome }
    },
  ),
  lawMutant(
    {
      name: 're-entry-by-party',
      fault: 'whoever acts for the same client enters without having the lock',
      killedBy: 're-entry: another owner of the same party does not enter',
    },
    mistaking('acquire', (command) => ({ ...command, owner: command.party ?? command.owner })),
  ),
  lawMutant(
    {
      name: 're-entry-without-limit',
      fault: 'a recursion that forgot to release is never stopped',
      killedBy: 're-entry: a hold has at most sixty-four steps',
    },
    blindTo(['acquire'], (view) => ({
      hold: (owner) => {
        const hold = view.hold(owner)
        return hold && { ...toPlain(hold), steps: hold.steps.slice(-8) }
      },
    })),
  ),
]

function shortened(hold: Hold, before: Hold, ttlMs: number): Hold {
  const nowMs = hold.leaseAtMs - Math.max(before.leaseAtMs - before.sinceMs, ttlMs)
  return { ...hold, leaseAtMs: nowMs + ttlMs }
}

/** The engine's own record of a hold has its rarer fields behind accessors. */
function toPlain(hold: Hold): Hold {
  const { party, session, meta, operation, steps } = hold
  return { ...hold, party, session, meta, operation, steps }
}
