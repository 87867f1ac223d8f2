import type { Coordination, LawSettings } from '../../law/model/settings.ts'
import { Random } from '../random.ts'
import { FAULT_KINDS, type FaultKind } from './fault-kinds.ts'

export type ClientKind = 'lock' | 'session' | 'operation' | 'sdk' | 'watch'

export interface ClientPlan {
  readonly name: string
  readonly kind: ClientKind
  /** How many of its milliseconds pass in one of the world's. */
  readonly clockRate: number
}

/**
 * A key on which the clients share a few owners, each with several requests at a time. What such an owner
 * may believe nobody can say, so this key is left out of the history that is checked at the end.
 */
export const CROWDED_KEY = 'crowd'

/** What the clients work on. */
export interface Workload {
  readonly keys: readonly string[]
  readonly resources: readonly string[]
  /** Resources that are coordinated otherwise than by the engine's memory, and how. */
  readonly otherResources: readonly (readonly [string, Coordination])[]
  readonly types: readonly string[]
  readonly lanes: readonly string[]
  readonly ttlsMs: readonly number[]
  readonly thinkMsMax: number
}

/** Everything about a run that its seed decides beforehand. */
export interface SimulationPlan {
  readonly seed: string
  readonly faults: ReadonlySet<FaultKind>
  readonly clients: readonly ClientPlan[]
  readonly workload: Workload
  readonly settings: Partial<LawSettings> & Pick<LawSettings, 'claimWindowMs' | 'retentionMs'>
  readonly compactMinBytes: number
  readonly preallocateBytes: number
  /** The mean time between two deeds of the nemesis. */
  readonly nemesisGapMs: number
}

export interface PlanOptions {
  /** Of the faults that the seed enables, only these. */
  readonly only?: readonly FaultKind[] | undefined
  readonly without?: readonly FaultKind[] | undefined
  /** Of the clients that the seed has, only those with these names. */
  readonly clients?: readonly string[] | undefined
}

/** The longest lease that any client asks for. */
const TTL_MS_MAX_SIMULATED = 3_000

/** A client's clock is off by at most this much: a little less than a client allows for. */
const CLOCK_RATE_ERROR_MAX = 0.009

export function createPlan(seed: number | string, options: PlanOptions = {}): SimulationPlan {
  const random = new Random(seed)
  const faults = drawFaults(random.fork('faults'), options)
  const clients = [
    ...drawClients(random.fork('clients'), faults),
    ...drawWatchers(random.fork('watchers')),
  ]
  const { clients: chosen } = options
  const shape = random.fork('shape')
  const lanes = shape.pick([[], [], ['fast', 'slow'], ['pull', 'first', 'last']])
  return {
    seed: String(seed),
    faults,
    clients: clients.filter(({ name }) => chosen === undefined || chosen.includes(name)),
    workload: {
      keys: shape.pick([['k1'], ['k1', 'k2'], ['k1', 'k2', 'k3']]),
      resources: shape.pick([['r1'], ['r1', 'r2']]),
      otherResources: [
        ['m1', 'mutex'],
        ['d1', 'client'],
      ],
      types: ['pull', 'pull', 'update', 'delete', 'build'],
      lanes,
      ttlsMs: shape.pick([
        [150, 500],
        [500, 1_000],
        [1_000, TTL_MS_MAX_SIMULATED],
      ]),
      thinkMsMax: shape.pick([20, 200, 800]),
    },
    settings: {
      lanes,
      claimWindowMs: shape.pick([300, 1_500]),
      waiterPatienceMs: shape.pick([1_000, 4_000]),
      retentionMs: shape.pick([500, 5_000, 60_000]),
      operationTtlMs: TTL_MS_MAX_SIMULATED,
      multiNode: shape.chance(0.9),
      updateRequiresNoRef: shape.chance(0.3),
    },
    compactMinBytes: shape.pick([1_024, 4_096, 1_048_576]),
    preallocateBytes: shape.pick([512, 4_096]),
    nemesisGapMs: shape.pick([150, 500, 1_500]),
  }
}

/** A swarm: each seed has some of them, so that none can always hide another. */
function drawFaults(random: Random, { only, without }: PlanOptions): Set<FaultKind> {
  const chance = random.pick([0.15, 0.4, 0.7])
  const drawn = FAULT_KINDS.filter(() => random.chance(chance))
  return new Set(drawn.filter((kind) => (only?.includes(kind) ?? true) && !without?.includes(kind)))
}

function drawClients(random: Random, faults: ReadonlySet<FaultKind>): ClientPlan[] {
  const count = random.int(2, 6)
  return Array.from({ length: count }, (_, index) => {
    const kind = random.weighted<ClientKind>([
      ['lock', 3],
      ['session', 2],
      ['operation', 3],
      ['sdk', 4],
    ])
    const error = (random.float() * 2 - 1) * CLOCK_RATE_ERROR_MAX
    const clockRate = faults.has('clock-rate') ? 1 + error : 1
    return { name: `c${index + 1}`, kind, clockRate }
  })
}

/** Those who only watch make work for the network, so most seeds have none. */
function drawWatchers(random: Random): ClientPlan[] {
  const count = random.weighted([
    [0, 7],
    [1, 2],
    [2, 1],
  ])
  return Array.from({ length: count }, (_, index) => {
    return { name: `w${index + 1}`, kind: 'watch', clockRate: 1 }
  })
}
