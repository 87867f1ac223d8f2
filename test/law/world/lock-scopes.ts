import type { Acquire } from '../../../src/law/model/commands.ts'
import type { Mode } from '../../../src/law/model/view.ts'
import type { ExploredCommand, Scope } from './explore.ts'
import type { KeyState } from './plain-view.ts'

const MODES: readonly Mode[] = ['read', 'write']
const KEY = 'a'
const TTL_MS = 1_000
/** Longer than a lease, so that waiters outlive holders as well as the reverse. */
const WAIT_MS = 1_500
/** Two of these end a lease, three end a wait. */
const TICK_MS = 600

function acquireBy(owner: string, options: Partial<Acquire>): Acquire {
  return { kind: 'acquire', key: KEY, owner, requestId: 'r', ttlMs: TTL_MS, ...options }
}

const TIME_PASSES: readonly ExploredCommand[] = [{ kind: 'tick', ms: TICK_MS }, { kind: 'expire' }]

/** Every request is a new one: who may hold, who waits, in which order they follow. */
export function createLockScope(depth: number): Scope {
  const owners = ['x', 'y', 'z']
  const commandsOf = (owner: string, serial: number): readonly ExploredCommand[] => [
    ...MODES.flatMap((mode) =>
      [0, WAIT_MS].map((waitMs) => acquireBy(owner, { requestId: `r${serial}`, mode, waitMs })),
    ),
    ...MODES.map((mode) => ({ kind: 'release', key: KEY, owner, mode }) as const),
    { kind: 'release', key: KEY, owner, mode: 'write', token: 0 },
    { kind: 'cancel', key: KEY, owner },
    ...[TTL_MS, TTL_MS / 4].map((ttlMs) => ({ kind: 'renew', key: KEY, owner, ttlMs }) as const),
    { kind: 'force', key: KEY, owner },
  ]
  return {
    name: 'locks',
    namespace: 'lock',
    depth,
    commands: (_, serial) => [
      ...owners.flatMap((owner) => commandsOf(owner, serial)),
      ...TIME_PASSES,
    ],
    naming: { keepsIds: false, keepsOwners: false },
  }
}

/** Waiters that only ask now and then: patience runs out, grants are claimed or undone. */
export function createClaimScope(depth: number): Scope {
  const owners = ['x', 'y', 'z']
  const commandsOf = (owner: string): readonly ExploredCommand[] => [
    ...MODES.map((mode) =>
      acquireBy(owner, { requestId: mode, mode, waitMs: 100_000, ttlMs: 2_000, detach: true }),
    ),
    acquireBy(owner, { requestId: 'write', waitMs: 100_000, ttlMs: 2_000 }),
    { kind: 'hang-up', owner },
    { kind: 'entrust', owner, requestId: 'write' },
    { kind: 'cancel', key: KEY, owner, requestId: 'write' },
    { kind: 'release', key: KEY, owner },
    { kind: 'cancel', key: KEY, owner, reason: 'abandoned' },
    { kind: 'renew', key: KEY, owner, ttlMs: 2_000 },
  ]
  return {
    name: 'claims',
    namespace: 'lock',
    settings: { claimWindowMs: 1_000, waiterPatienceMs: 1_300 },
    depth,
    commands: () => [...owners.flatMap(commandsOf), ...TIME_PASSES],
    naming: { keepsIds: true, keepsOwners: false },
  }
}

function commandsWithIds(owner: string): readonly ExploredCommand[] {
  const ids = ['i', 'j']
  return [
    ...ids.flatMap((requestId) =>
      MODES.flatMap((mode) =>
        [0, 90_000].map((waitMs) => acquireBy(owner, { requestId, mode, waitMs, ttlMs: 70_000 })),
      ),
    ),
    ...ids.map((requestId) => ({ kind: 'cancel', key: KEY, owner, requestId }) as const),
    { kind: 'release', key: KEY, owner },
    { kind: 'release', key: KEY, owner, requestId: 'k' },
  ]
}

/** Two owners that use the same ids again and again, for re-entry, retries and late duplicates. */
export function createReplayScope(depth: number): Scope {
  return {
    name: 're-entry and replay',
    namespace: 'lock',
    depth,
    commands: () => [...['x', 'y'].flatMap(commandsWithIds), { kind: 'tick', ms: 35_000 }],
    naming: { keepsIds: true, keepsOwners: false },
  }
}

/**
 * Sets out where a writer is about to expire and both others wait twice, so that one step ends a
 * lease, grants, makes a waiter an upgrader and answers a retry.
 */
export function createLateReplayScope(depth: number): Scope {
  const wait = { waitMs: 90_000, ttlMs: 70_000 }
  return {
    name: 'late replays',
    namespace: 'lock',
    depth,
    prefix: [
      acquireBy('x', { requestId: 'i', mode: 'write', ttlMs: 60_000 }),
      acquireBy('z', { requestId: 'i', mode: 'read', ...wait }),
      acquireBy('y', { requestId: 'i', mode: 'read', ...wait }),
      acquireBy('y', { requestId: 'j', mode: 'write', ...wait }),
      { kind: 'tick', ms: 59_000 },
    ],
    commands: () => [...['x', 'y', 'z'].flatMap(commandsWithIds), { kind: 'tick', ms: 10_000 }],
    naming: { keepsIds: true, keepsOwners: false },
  }
}

const LANES = ['high', 'middle', 'low']

function waitIn(lane: string, owner: string, mode: Mode = 'write'): Acquire {
  return acquireBy(owner, { requestId: owner, mode, lane, waitMs: Infinity, ttlMs: 100_000 })
}

function releaseBy(owner: string): ExploredCommand {
  return { kind: 'release', key: KEY, owner }
}

/** Sets out where the lower lanes have been passed six times, so that their turn is in reach. */
export function createLaneScope(depth: number): Scope {
  const passing = Array.from({ length: 6 }, (_, index) => `p${index}`)
  const prefix = [
    waitIn('low', 'first'),
    ...passing.map((owner) => waitIn('high', owner)),
    waitIn('high', 'h0'),
    waitIn('high', 'h1'),
    waitIn('middle', 'm0'),
    waitIn('low', 'l0'),
    ...['first', ...passing].map(releaseBy),
  ]
  return {
    name: 'lanes',
    namespace: 'lock',
    settings: { lanes: LANES },
    depth,
    prefix,
    commands: ([state], serial) => [
      ...LANES.flatMap((lane) => MODES.map((mode) => waitIn(lane, `o${serial}`, mode))),
      ...firstOfEach(state).map(
        (owner) => ({ kind: 'cancel', key: KEY, owner, requestId: owner }) as const,
      ),
      ...(state?.holds ?? []).slice(0, 2).map((hold) => releaseBy(hold.owner)),
    ],
    naming: { keepsIds: false, keepsOwners: false },
  }
}

function firstOfEach(state: KeyState | undefined): readonly string[] {
  return LANES.flatMap((_, lane) => {
    const head = state?.waiters.find((waiter) => waiter.lane === lane)
    return head ? [head.owner] : []
  })
}

/** Two keys and owners that wait for both at once: who waits for whom, and who must not. */
export function createDeadlockScope(depth: number): Scope {
  const keys = ['a', 'b']
  const commandsOf = (key: string, owner: string, serial: number): readonly ExploredCommand[] => [
    ...MODES.map((mode) =>
      acquireBy(owner, { key, requestId: `r${serial}`, mode, waitMs: Infinity }),
    ),
    { kind: 'release', key, owner },
    { kind: 'cancel', key, owner },
  ]
  return {
    name: 'deadlocks',
    namespace: 'lock',
    keys,
    depth,
    commands: (_, serial) =>
      keys.flatMap((key) => ['x', 'y', 'z'].flatMap((owner) => commandsOf(key, owner, serial))),
    naming: { keepsIds: false, keepsOwners: false },
  }
}
