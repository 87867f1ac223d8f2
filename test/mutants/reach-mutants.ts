import { decide } from '../../src/law/decide.ts'
import { alterHolds, altering, mistaking } from './law-surgery.ts'
import { lawMutant, type Mutant } from './mutant.ts'

/** Wrong about who can be reached, and about what was granted, joined or ended meanwhile. */
export const REACH_MUTANTS: readonly Mutant[] = [
  lawMutant(
    {
      name: 'asking-disconnects',
      fault: 'a poll beside an open request makes the waiter one that must claim its grant',
      killedBy: 'claim: asking without waiting does not end the call that waits',
    },
    altering(['begin'], ({ changes }, { waitMs = 0 }) => ({
      changes: changes.map((change) =>
        change.kind === 'waiter-kept' && waitMs === 0
          ? { ...change, waiter: { ...change.waiter, connected: false } }
          : change,
      ),
    })),
  ),
  lawMutant(
    {
      name: 'hang-up-not-noticed',
      fault: 'a waiter whose last request was answered is still told its grant, and nobody hears',
      killedBy: 'claim: a call that has waited long enough leaves a place to claim',
    },
    altering(['hang-up'], () => ({ changes: [] })),
  ),
  lawMutant(
    {
      name: 'undone-upgrade-keeps-token',
      fault:
        'an upgrade that nobody heard of is undone, and its owner is locked out by its own token',
      killedBy: 'upgrade: an upgrade that is undone unheard leaves the token its owner knows',
    },
    altering(['cancel'], ({ changes }, { owner }, view) => {
      const token = view.hold(owner)?.token
      return {
        changes: alterHolds(changes, (hold) =>
          hold.owner === owner && token !== undefined ? { ...hold, token } : hold,
        ),
      }
    }),
  ),
  lawMutant(
    {
      name: 'undone-token-given-again',
      fault: 'the token of a grant that was undone is given to the next',
      killedBy: 'upgrade: an upgrade that is undone unheard leaves the token its owner knows',
    },
    () => (view, command, nowMs) => {
      const decision = decide(view, command, nowMs)
      if (command.kind !== 'acquire' || decision.outcome.kind !== 'granted') return decision
      const before = view.hold(command.owner)
      const isUpgrade = before?.writes === 0 && decision.outcome.writes > 0
      if (!isUpgrade) return decision
      const token = view.token
      return {
        ...decision,
        outcome: { ...decision.outcome, token },
        changes: alterHolds(decision.changes, (hold) => ({ ...hold, token })),
      }
    },
  ),
  lawMutant(
    {
      name: 'broken-connection-cancels',
      fault: 'a client that was cut off is told that it gave up itself, and does not ask again',
      killedBy:
        'cancel and time-out: a wait whose client is gone is told from one that was cancelled',
    },
    mistaking('cancel', (command) => ({ ...command, reason: undefined })),
  ),
  lawMutant(
    {
      name: 'joined-request-runs-again',
      fault: 'a late copy of a request that joined an operation starts it once more',
      killedBy: 'idempotency: who joins a running operation does not run it again later',
    },
    altering(['begin'], ({ changes }) => ({
      changes: alterHolds(changes, (hold) => ({
        ...hold,
        steps: hold.steps.map((step) => ({ ...step, joined: undefined })),
      })),
    })),
  ),
  lawMutant(
    {
      name: 'loss-without-a-reason',
      fault: 'who lost a lock to an operator is told only that it has none',
      killedBy: 'renewal: who is refused as a stranger learns how its hold ended',
    },
    altering(['renew', 'release'], ({ outcome }) => {
      if (outcome.kind !== 'refused' || outcome.code !== 'not_holder') return {}
      return { outcome: { kind: 'refused', code: 'not_holder' } }
    }),
  ),
]
