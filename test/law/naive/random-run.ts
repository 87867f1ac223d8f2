import { ENDED_REMEMBERED_MS } from '../../../src/law/model/limits.ts'
import fc from 'fast-check'
import type { KeyCommand, SessionCommand } from '../../../src/law/model/commands.ts'
import { decideSession } from '../../../src/law/sessions.ts'
import type { Coordination, LawSettings } from '../../../src/law/model/settings.ts'
import type { Tick } from '../world/explore.ts'
import { NaiveModel } from './naive-model.ts'
import { PlainWorld } from '../world/plain-world.ts'
import type { Pair } from './run-both.ts'

/**
 * Long random runs. A failure prints fast-check's seed and path; `HOLDFAST_SEED` runs that seed again.
 */
export type RandomCommand = KeyCommand | SessionCommand | Tick | HandOver

/** Whoever holds the key, or runs on the resource, first of all gives it up. */
export interface HandOver {
  readonly kind: 'hand-over'
  readonly key: string
  readonly success: boolean
}

const { HOLDFAST_SEED: seed, HOLDFAST_TEST_DOSE: dose } = process.env
const RUNS = dose === 'long' ? 5_000 : 150

export function checkRuns(
  commands: fc.Arbitrary<RandomCommand>,
  check: (run: readonly RandomCommand[]) => void,
): void {
  // Without the bias every length is as likely as any other; with it most runs are too short to matter.
  const runs = fc.noBias(fc.array(commands, { minLength: 1, maxLength: 120, size: 'max' }))
  const parameters = { numRuns: RUNS, ...(seed === undefined ? {} : { seed: Number(seed) }) }
  fc.assert(fc.property(runs, check), parameters)
}

export const LANES: readonly string[] = ['high', 'middle', 'low']

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
}

const owner = fc.constantFrom('x', 'y', 'z', 'u')
const key = fc.constantFrom('a', 'a', 'a', 'b')
const mode = fc.constantFrom('read', 'write', undefined)
const ttlMs = fc.constantFrom(500, 2_000, 30_000)
const waitMs = fc.constantFrom(0, 3_000, 20_000, Infinity)
const requestId = fc.constantFrom('i', 'j', 'k', 'l', 'm', 'n', 'o', 'p')
const lane = fc.constantFrom(...LANES, undefined)
const session = fc.constantFrom('s', 't')

const acquire: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('acquire'),
  key,
  owner,
  requestId,
  mode,
  ttlMs,
  waitMs,
  lane,
  detach: fc.boolean(),
  session: rarely(session),
})

const acquireNew: fc.Arbitrary<RandomCommand> = fc
  .tuple(acquire, fc.uuid())
  .map(([command, uuid]) => ({ ...command, requestId: uuid }) as RandomCommand)

const release: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('release'),
  key,
  owner,
  mode,
  token: rarely(fc.constantFrom(1, 2, 3)),
  requestId: rarely(requestId),
})

const renew: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('renew'),
  key,
  owner,
  ttlMs,
})

const cancel: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('cancel'),
  key,
  owner,
  requestId: rarely(requestId),
  reason: rarely(fc.constant('abandoned')),
})

const force: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('force'),
  key,
  owner: rarely(owner),
})

const ofSession: fc.Arbitrary<RandomCommand> = fc.oneof(
  fc.record({
    kind: fc.constant('open-session'),
    session,
    graceMs: fc.constant(5_000),
    keepsLeases: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('touch-session'), session }),
  fc.record({ kind: fc.constant('close-session'), session }),
  fc.record({ kind: fc.constant('leave'), session }),
)

const tick: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('tick'),
  ms: fc.constantFrom(1, 499, 1_000, 2_500, 11_000),
})

const handOver: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('hand-over'),
  key,
  success: fc.constantFrom(true, true, false),
})

const expire: fc.Arbitrary<RandomCommand> = fc.constant({ kind: 'expire' })

export const lockCommand: fc.Arbitrary<RandomCommand> = fc.oneof(
  { weight: 8, arbitrary: acquire },
  { weight: 6, arbitrary: acquireNew },
  { weight: 5, arbitrary: release },
  { weight: 7, arbitrary: handOver },
  { weight: 2, arbitrary: renew },
  { weight: 2, arbitrary: cancel },
  { weight: 1, arbitrary: force },
  { weight: 2, arbitrary: ofSession },
  { weight: 3, arbitrary: tick },
  { weight: 1, arbitrary: expire },
)

/** Among them releases that have a name and come again under it. */
export const commandOfNamedReleases: fc.Arbitrary<RandomCommand> = fc.oneof(
  { weight: 3, arbitrary: lockCommand },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('release'),
      key,
      owner,
      requestId: fc.constantFrom('i', 'j'),
    }),
  },
)

const operation = {
  type: fc.constantFrom('pull', 'pull', 'update', 'delete', 'index'),
  node: fc.constantFrom('m', 'n', 'o'),
  resource: fc.constant('a'),
}

const begin: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('begin'),
  ...operation,
  version: rarely(fc.constantFrom('1', '2')),
  requestId: rarely(requestId),
  waitMs: fc.constantFrom(0, 5_000),
  ttlMs,
})

const finish: fc.Arbitrary<RandomCommand> = fc.record({
  kind: fc.constant('finish'),
  ...operation,
  success: fc.constantFrom(true, true, false),
  value: rarely(fc.constantFrom('1', '2')),
  requestId: rarely(requestId),
})

export const operationCommand: fc.Arbitrary<RandomCommand> = fc.oneof(
  { weight: 8, arbitrary: begin },
  { weight: 4, arbitrary: finish },
  { weight: 6, arbitrary: handOver },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('cancel'),
      namespace: fc.constant('operation'),
      key: operation.resource,
      owner: fc.tuple(operation.type, operation.node).map(([type, node]) => `${type}:${node}`),
      requestId: rarely(requestId),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('unref'),
      resource: operation.resource,
      node: operation.node,
    }),
  },
  { weight: 2, arbitrary: tick },
)

/** The same with pauses in which nodes that do not ask lose what they were not told of. */
export const slowOperationCommand: fc.Arbitrary<RandomCommand> = fc.oneof(
  { weight: 9, arbitrary: operationCommand },
  { weight: 1, arbitrary: fc.constant({ kind: 'tick', ms: ENDED_REMEMBERED_MS } as const) },
)

/** The same with every kind of coordination side by side. */
export const mixedOperationCommand: fc.Arbitrary<RandomCommand> = fc
  .tuple(operationCommand, fc.constantFrom<Coordination>('server', 'server', 'client', 'mutex'))
  .map(([command, coordination]) =>
    command.kind === 'begin' ? { ...command, coordination } : command,
  )

/** Where lanes matter cycles are left aside: a later request may stand ahead of an earlier one. */
export function createPair(settings: Partial<LawSettings>): Pair {
  const seesAllKeys = settings.lanes === undefined
  return {
    world: new PlainWorld({ settings, seesAllKeys }),
    model: new NaiveModel(settings, seesAllKeys),
  }
}

/** What the engine does with a session's command: its record changes, and each key is left. */
export function runSession(pair: Pair, command: SessionCommand, nowMs: number): boolean {
  const known = pair.world.session(command.session)
  const { session: next } = decideSession(known, command, nowMs)
  if (next) {
    pair.world.setSession(next)
    pair.model.sessions.set(next.id, next)
  }
  if (next !== null) return false
  pair.world.removeSession(command.session)
  pair.model.sessions.delete(command.session)
  return true
}
