import type { Clock } from '../../src/time/clock.ts'
import type { ToyAnswer } from './toy-lock.ts'
import { ToyLock } from './toy-lock.ts'

export type ResourceBug =
  | 'a skip after a delete'
  | 'a skip after a failure'
  | 'a skip of another version'
  | 'a skip with a wrong value'
  | 'a skip without a reference'
  | 'an unref that drops all'
  | 'a reference per pull'
  | 'a delete of what is in use'
  | 'in use by nobody'
  | 'work done twice'

export interface ToyBegin {
  readonly type: string
  readonly node: string
  readonly version: string | undefined
  readonly ttlMs: number
}

export type BeginAnswer =
  | ToyAnswer
  | { readonly kind: 'skip'; readonly value: unknown }
  | { readonly kind: 'refused'; readonly code: 'in_use'; readonly refs: readonly string[] }

/** Operations on one resource, without a queue: who comes while it is held is refused. */
export class ToyResource {
  readonly refs: string[] = []
  readonly lock: ToyLock
  readonly #bug: ResourceBug | null
  readonly #memory = new Map<string, { version: string | undefined; value: unknown }>()
  readonly #running = new Map<string, ToyBegin>()
  #begins = 0

  constructor(clock: Clock, bug: ResourceBug | null) {
    this.lock = new ToyLock(clock, null)
    this.#bug = bug
  }

  async begin(request: ToyBegin): Promise<BeginAnswer> {
    const { type, node, version } = request
    const owner = `${type}:${node}`
    if (!this.lock.holds.has(owner)) {
      const early = this.#decideEarly(type, node, version)
      if (early !== null) return early
    }
    const reqId = this.lock.holds.has(owner) ? `begin ${this.#begins}` : `begin ${++this.#begins}`
    this.#running.set(owner, request)
    const ask = { owner, reqId, mode: 'write', ttlMs: request.ttlMs, waitMs: 0 } as const
    const hold = this.lock.holds.get(owner)
    if (hold !== undefined) return { kind: 'granted', token: hold.token, reads: 0, writes: 1 }
    return this.lock.acquire(ask, () => {})
  }

  finish(
    type: string,
    node: string,
    { success, value }: { success: boolean; value: unknown },
  ): string {
    const owner = `${type}:${node}`
    const code = this.lock.release(owner, 'write', `finish ${++this.#begins}`)
    const isDone = success || this.#bug === 'a skip after a failure'
    if (code === 'ok' && isDone) this.#remember(type, node, value)
    return code
  }

  unref(node: string): void {
    const stay =
      this.#bug === 'an unref that drops all' ? [] : this.refs.filter((ref) => ref !== node)
    this.refs.splice(0, this.refs.length, ...stay)
  }

  #decideEarly(type: string, node: string, version: string | undefined): BeginAnswer | null {
    const isUsed = this.refs.length > 0 && this.#bug !== 'a delete of what is in use'
    if (type === 'delete' && (isUsed || this.#bug === 'in use by nobody')) {
      return { kind: 'refused', code: 'in_use', refs: [...this.refs] }
    }
    const done = this.#memory.get(type)
    const isSame = done?.version === version || this.#bug === 'a skip of another version'
    const isDeleting = [...this.lock.holds.keys()].some((owner) => owner.startsWith('delete:'))
    if (done === undefined || !isSame || isDeleting || this.#bug === 'work done twice') return null
    if (type === 'pull' && this.#bug !== 'a skip without a reference') this.#addRef(node)
    return { kind: 'skip', value: this.#bug === 'a skip with a wrong value' ? 'wrong' : done.value }
  }

  #remember(type: string, node: string, value: unknown): void {
    if (type === 'delete' && this.#bug !== 'a skip after a delete') this.#memory.clear()
    if (type === 'delete') this.refs.length = 0
    else this.#memory.delete('delete')
    const version = this.#running.get(`${type}:${node}`)?.version
    this.#memory.set(type, { version, value })
    if (type === 'pull') this.#addRef(node)
  }

  #addRef(node: string): void {
    if (!this.refs.includes(node) || this.#bug === 'a reference per pull') this.refs.push(node)
  }
}
