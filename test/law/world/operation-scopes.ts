import type { Coordination, LawSettings } from '../../../src/law/model/settings.ts'
import type { ExploredCommand, Scope } from './explore.ts'

const RESOURCE = 'a'
const TTL_MS = 1_000
const TICK_MS = 600

interface OperationScopeOptions {
  readonly name: string
  readonly depth: number
  readonly types: readonly string[]
  readonly nodes: readonly string[]
  readonly versions: readonly (string | undefined)[]
  /** Explicit request ids, used again and again; the default id otherwise. */
  readonly ids?: readonly (string | undefined)[]
  /** Kinds that those who begin name; the one of the settings otherwise. */
  readonly kinds?: readonly (Coordination | undefined)[]
  readonly settings?: Partial<LawSettings>
  /** How long a tick is. */
  readonly tickMs?: number
}

/** Nodes that begin, finish, fail, cancel and drop references on one resource. */
export function createOperationScope(options: OperationScopeOptions): Scope {
  const { name, depth, types, nodes, settings, ids, tickMs = TICK_MS } = options
  const commands: readonly ExploredCommand[] = [
    ...types.flatMap((type) => nodes.flatMap((node) => commandsOf(options, type, node))),
    ...nodes.map((node) => ({ kind: 'unref', resource: RESOURCE, node }) as const),
    { kind: 'tick', ms: tickMs },
    { kind: 'expire' },
  ]
  return {
    name,
    namespace: 'operation',
    settings: { retentionMs: 2_000, claimWindowMs: 500, waiterPatienceMs: 1_500, ...settings },
    depth,
    commands: () => commands,
    naming: { keepsIds: ids !== undefined, keepsOwners: true },
  }
}

function commandsOf(
  { versions, ids = [undefined], kinds = [undefined] }: OperationScopeOptions,
  type: string,
  node: string,
): readonly ExploredCommand[] {
  const about = { type, node, resource: RESOURCE }
  const begin = { kind: 'begin', ...about, ttlMs: TTL_MS } as const
  const owner = `${type}:${node}`
  const cancel = { kind: 'cancel', namespace: 'operation', key: RESOURCE, owner } as const
  return [
    ...versions.flatMap((version) =>
      ids.flatMap((requestId) =>
        kinds.flatMap((coordination) =>
          [0, 5_000].map((waitMs) => ({ ...begin, version, requestId, coordination, waitMs })),
        ),
      ),
    ),
    ...ids.flatMap((requestId): ExploredCommand[] => [
      { kind: 'finish', ...about, requestId, success: true, value: `"${node}"` },
      { kind: 'finish', ...about, requestId, success: false, error: 'disk' },
      { ...cancel, requestId },
    ]),
    { ...cancel, reason: ids.length > 1 ? 'abandoned' : 'cancelled' },
    { kind: 'hang-up', owner },
  ]
}
