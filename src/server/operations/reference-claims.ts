import type { LockEngine } from '../../engine/engine.ts'
import type { Begin } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Coordination } from '../../law/model/settings.ts'
import type { ListenedTo } from './operation-subscription.ts'

/**
 * Claims references for nodes that learn from a stream that their pull is skipped. Such a node does not ask
 * again, and would lose its reference; so the server asks in its name once the stream was told.
 *
 * A stream need not name its node, and then may be that of any node that waited: all of them are asked for.
 * A node that died among them keeps its reference, which is better than to delete what a living node uses.
 */
export class ReferenceClaims {
  readonly #engine: LockEngine
  readonly #coordination: Coordination
  /**
   * Whose streams were told, by resource; `undefined` for a stream that names no node. Looked at together,
   * because a success is told to many at once.
   */
  readonly #told = new Map<string, Set<string | undefined>>()

  constructor(engine: LockEngine, coordination: Coordination) {
    this.#engine = engine
    this.#coordination = coordination
  }

  /** A stream was told of a success. Returns at once. */
  told({ type, resource, node }: ListenedTo): void {
    if (type !== 'pull' || this.#coordination !== 'server') return
    const nodes = this.#told.get(resource)
    if (nodes !== undefined) {
      nodes.add(node)
      return
    }
    this.#told.set(resource, new Set([node]))
    queueMicrotask(() => void this.#claim(resource))
  }

  /** Never rejects: while the engine is away nothing is deleted either, and the nodes have a minute or more. */
  async #claim(resource: string): Promise<void> {
    const told = this.#told.get(resource) ?? new Set()
    this.#told.delete(resource)
    try {
      const { unclaimed } = await this.#engine.read({ kind: 'references', resource })
      const nodes = told.has(undefined) ? unclaimed : unclaimed.filter((node) => told.has(node))
      if (nodes.length === 0) return
      const { remembered } = await this.#engine.read({
        kind: 'inspect',
        namespace: 'operation',
        key: resource,
      })
      const success = remembered.find(({ type, skips }) => type === 'pull' && skips)
      if (success === undefined) return
      const { version } = success
      await Promise.all(
        nodes.map((node) => this.#ask({ kind: 'begin', type: 'pull', resource, node, version })),
      )
    } catch {
      // Not reached. A stream that breaks is opened again, and is told of the success again.
    }
  }

  async #ask(begin: Begin): Promise<void> {
    const { type, resource, node } = begin
    const outcome = await this.#engine.apply({ ...begin, coordination: this.#coordination })
    // The success was forgotten meanwhile: the node has not asked for the work.
    if (outcome.kind === 'queued') {
      await this.#engine.apply({
        kind: 'cancel',
        namespace: 'operation',
        key: resource,
        owner: ownerOf(begin),
      })
    } else if (outcome.kind === 'granted') {
      const { token } = outcome
      await this.#engine.apply({ kind: 'finish', type, resource, node, token, success: false })
    }
  }
}
