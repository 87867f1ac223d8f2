import type { Begin } from '../../../law/model/commands.ts'
import { ownerOf } from '../../../law/operations.ts'
import type { Granted } from '../../../law/model/outcomes.ts'
import { Random } from '../../random.ts'
import { type Client, type ClientContext, sleep } from './client-context.ts'
import { insist } from './insist.ts'

/** A node that pulls, updates and deletes what others share. */
export const runOperationClient: Client = async (context) => {
  const client = new OperationClient(context)
  while (!context.isHealed()) {
    await sleep(context, context.random.int(0, context.workload.thinkMsMax))
    await client.doOne()
  }
  await client.proveProgress()
}

class OperationClient {
  readonly #context: ClientContext
  #requests = 0

  constructor(context: ClientContext) {
    this.#context = context
  }

  async doOne(): Promise<void> {
    const { random, workload, engine, name } = this.#context
    const deed = random.weighted([
      ['operate', 10],
      ['unref', 3],
      ['inspect', 2],
      ['force', 0.5],
    ])
    const resource = random.pick(workload.resources)
    if (deed === 'operate') await this.#operate(resource)
    else if (deed === 'unref') {
      const isAll = random.chance(0.2)
      await insist(this.#context, {
        kind: 'unref',
        node: name,
        resource: isAll ? undefined : resource,
      })
    } else if (deed === 'inspect') {
      const query = { kind: 'inspect', key: resource, namespace: 'operation' } as const
      await engine.read(query).catch(() => undefined)
    } else {
      await insist(this.#context, { kind: 'force', key: resource, namespace: 'operation' })
    }
  }

  /** Every resource can be worked on by everyone, and nobody is left referring to one. */
  async proveProgress(): Promise<void> {
    const { random, name } = this.#context
    for (const resource of random.shuffle(this.#everyResource())) {
      while (!(await this.#probe(resource))) await sleep(this.#context, 100)
    }
    await insist(this.#context, { kind: 'unref', node: name })
  }

  #everyResource(): string[] {
    const { workload } = this.#context
    return [...workload.resources, ...workload.otherResources.map(([name]) => name)]
  }

  /** An operation that nobody else has done. Where nobody queues it may be refused at first. */
  async #probe(resource: string): Promise<boolean> {
    const request = this.#request('probe', resource, { version: this.#context.id })
    const granted = await this.#begin({ ...request, waitMs: 60_000 })
    if (granted === undefined) return false
    await this.#finish(request, { token: granted.token, success: true })
    return true
  }

  async #operate(resource: string): Promise<void> {
    const { random, workload } = this.#context
    const type = random.pick(workload.types)
    const isOther = random.chance(0.2)
    const [other, coordination] = random.pick(workload.otherResources)
    const request = isOther
      ? this.#request(type, other, { version: this.#version(type, other), coordination })
      : this.#request(type, resource, { version: this.#version(type, resource) })
    const granted = await this.#begin(request)
    if (granted === undefined) return
    await sleep(this.#context, random.int(0, 400))
    if (random.chance(0.1)) return
    if (random.chance(0.4)) await this.#joinOwn(request)
    const success = random.chance(0.8)
    const value = success && random.chance(0.5) ? JSON.stringify(request.requestId) : undefined
    await this.#finish(request, { token: granted.token, success, value })
  }

  /** As another process of this node would ask: the standing answers for both requests from then on. */
  async #joinOwn({ type, resource, version, coordination }: Begin): Promise<void> {
    const request = this.#request(type, resource, { version, coordination })
    await insist(this.#context, { ...request, waitMs: 0 })
  }

  /**
   * Always the same for one node: what it began in an earlier life, or lost sight of, it may come to
   * finish later, and is then answered for that.
   */
  #version(type: string, resource: string): string | undefined {
    const { name } = this.#context
    return new Random(`version ${name} ${type} ${resource}`).pick([undefined, 'v1', 'v2'])
  }

  async #begin(request: Begin): Promise<Granted | undefined> {
    const { random, name: node } = this.#context
    const { type, resource, waitMs = random.pick([0, 0, 200, 1_500]) } = request
    for (;;) {
      const outcome = await insist(this.#context, { ...request, waitMs })
      if (outcome?.kind === 'granted') return outcome
      if (outcome !== undefined && outcome.kind !== 'queued') return undefined
      const isPatient = request.type === 'probe' || random.chance(0.85)
      if (outcome === undefined || !isPatient) {
        await insist(this.#context, {
          kind: 'cancel',
          namespace: 'operation',
          key: resource,
          owner: ownerOf({ type, node }),
        })
        return undefined
      }
      await sleep(this.#context, random.int(1, 300))
    }
  }

  async #finish(
    request: Begin,
    result: {
      readonly token: number
      readonly success: boolean
      readonly value?: string | undefined
    },
  ): Promise<void> {
    const { type, resource, node, coordination, requestId } = request
    await insist(this.#context, {
      kind: 'finish',
      ...{ type, resource, node, coordination },
      requestId: `${requestId}-end`,
      ...result,
    })
  }

  #request(type: string, resource: string, asked: Pick<Begin, 'version' | 'coordination'>): Begin {
    const { id, name: node, random, workload } = this.#context
    this.#requests += 1
    const requestId = `${id}-${this.#requests}`
    const ttlMs = random.pick(workload.ttlsMs)
    return { kind: 'begin', type, resource, node, requestId, ttlMs, ...asked }
  }
}
