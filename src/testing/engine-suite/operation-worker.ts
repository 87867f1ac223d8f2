import type { Outcome } from '../../law/model/outcomes.ts'
import type { Random } from '../random.ts'
import { TTL_MS } from './engine-rig.ts'
import type { RecordedClient } from './recorded-client.ts'
import { takeTurns } from './take-turns.ts'

const POLLS_MAX = 12

interface Task {
  readonly type: string
  readonly resource: string
  readonly version?: string
}

/** A node that pulls, updates, deletes and builds, as its random numbers say. */
export class OperationWorker {
  readonly #client: RecordedClient
  readonly #random: Random
  readonly #resources: readonly string[]
  #lives = 0
  #values = 0

  constructor(client: RecordedClient, random: Random, resources: readonly string[]) {
    this.#client = client
    this.#random = random
    this.#resources = resources
  }

  async run(visits: number): Promise<void> {
    for (let visit = 0; visit < visits; visit += 1) {
      await this.#visit(this.#random.pick(this.#resources))
      await takeTurns(this.#random.int(0, 3))
    }
  }

  /** A node that gave up or vanished in the middle of its work comes back under another name. */
  get #node(): string {
    return `${this.#client.name}.${this.#lives}`
  }

  async #visit(resource: string): Promise<void> {
    if (this.#random.chance(0.3)) await this.#client.check(resource, 'operation')
    if (this.#random.chance(0.4)) await this.#client.unref(this.#node, resource)
    const type = this.#random.weighted([
      ['pull', 5],
      ['update', 2],
      ['delete', 4],
      ['build', 2],
    ])
    const version = type === 'update' ? this.#random.pick(['1', '2', undefined]) : undefined
    const task: Task = { type, resource, ...(version === undefined ? {} : { version }) }
    const outcome = await this.#obtain(task)
    if (outcome?.kind === 'granted') await this.#work(task)
  }

  async #obtain({ type, ...fields }: Task): Promise<Outcome | null> {
    const waitMs = this.#random.chance(0.5) ? 2 * TTL_MS : 0
    for (let poll = 0; poll < POLLS_MAX; poll += 1) {
      const outcome = await this.#client.begin(type, this.#node, { ...fields, waitMs })
      if (outcome?.kind !== 'queued') return outcome
      await takeTurns(this.#random.int(1, 3))
    }
    await this.#client.withdraw(type, this.#node, fields.resource)
    this.#lives += 1
    return null
  }

  async #work({ type, resource, ...fields }: Task): Promise<void> {
    await takeTurns(this.#random.int(0, 6))
    if (this.#random.chance(0.2)) {
      await this.#client.begin(type, this.#node, { resource, ...fields })
    }
    if (this.#random.chance(0.1)) {
      this.#lives += 1
      return
    }
    const success = this.#random.chance(0.75)
    this.#values += 1
    const value = JSON.stringify(`${this.#client.name}-${this.#values}`)
    const finish = { resource, success, ...(success ? { value } : {}) }
    await this.#client.finish(type, this.#node, finish)
  }
}
