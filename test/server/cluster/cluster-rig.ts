import { onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import { connect } from '../../../src/locks/connect.ts'
import type { Locks } from '../../../src/locks/locks.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import type { ServerKind } from '../../engines/sql/test-servers.ts'

/** Tests wait for it in real time; and who comes back in time has so long for it, on any machine. */
export const GRACE_MS = 5_000

export interface ClusterOptions {
  readonly kind: ServerKind
  /** An empty database of that kind. */
  readonly where: string
  readonly count: number
  readonly sessionGraceMs?: number
}

interface Member {
  readonly engine: LockEngine
  readonly server: LockServer
}

/** Several servers, each with an engine of its own, on one database. */
export class Cluster {
  readonly #options: ClusterOptions
  readonly #members: Member[] = []

  private constructor(options: ClusterOptions) {
    this.#options = options
  }

  /** Closed when the test has finished. */
  static async open(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options)
    onTestFinished(() => cluster.#close())
    while (cluster.size < options.count) cluster.#members.push(await cluster.#start())
    return cluster
  }

  async #start(port = 0): Promise<Member> {
    const { kind, where, sessionGraceMs = GRACE_MS } = this.#options
    const engine = await openSqlEngine(() => kind.open(where))
    const server = await LockServer.open({ engine, port, sessionGraceMs })
    return { engine, server }
  }

  #member(index: number): Member {
    const member = this.#members[index]
    if (member === undefined) throw new Error(`there is no server ${index}`)
    return member
  }

  get size(): number {
    return this.#members.length
  }

  url(index: number): string {
    return this.#member(index).server.url
  }

  engine(index: number): LockEngine {
    return this.#member(index).engine
  }

  /** A client of one of the servers. */
  async locks(index: number, owner?: string): Promise<Locks> {
    const locks = await connect(this.url(index), { owner, heartbeatThread: false })
    onTestFinished(() => locks.close())
    return locks
  }

  async post(index: number, path: string, body: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(this.url(index) + path, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    return (await response.json()) as Record<string, unknown>
  }

  /** As seen by one of them. */
  async holders(index: number, key: string): Promise<string[]> {
    const { holders } = await this.engine(index).read({ kind: 'inspect', key })
    return holders.map(({ owner }) => owner)
  }

  async waiters(index: number, key: string): Promise<string[]> {
    const { queue } = await this.engine(index).read({ kind: 'inspect', key })
    return queue.map(({ owner }) => owner)
  }

  /** It stops as it does for an operator, and another one starts at its address. */
  async restart(index: number): Promise<void> {
    const { server, engine } = this.#member(index)
    const { port } = server.address
    await server.close()
    await engine.close()
    this.#members[index] = await this.#start(port)
  }

  async #close(): Promise<void> {
    for (const { server, engine } of this.#members) {
      await server.close()
      await engine.close()
    }
  }
}
