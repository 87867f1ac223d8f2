import { LockClient } from '../../src/client/lock-client.ts'
import type { LockClientOptions } from '../../src/client/lock-client-options.ts'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { LawSettings } from '../../src/law/model/settings.ts'
import { LockServer } from '../../src/server/lock-server.ts'
import { FaultProxy } from '../../src/testing/fault-proxy.ts'

/** Who comes back as fast as it can is in time, on any machine. */
const GRACE_MS = 6_000

/** A real server, a proxy that can harm what passes, and clients on either way. */
export class ClientRig {
  readonly engine: LockEngine
  readonly proxy: FaultProxy
  readonly #settings: Partial<LawSettings>
  readonly #clients: LockClient[] = []
  #server: LockServer

  private constructor(parts: {
    readonly engine: LockEngine
    readonly proxy: FaultProxy
    readonly server: LockServer
    readonly settings: Partial<LawSettings>
  }) {
    this.engine = parts.engine
    this.proxy = parts.proxy
    this.#server = parts.server
    this.#settings = parts.settings
  }

  static async open(settings: Partial<LawSettings> = {}): Promise<ClientRig> {
    const engine = openMemoryEngine({ settings })
    const server = await LockServer.open({ engine, settings, sessionGraceMs: GRACE_MS })
    const proxy = await FaultProxy.listen({ target: { port: server.address.port } })
    return new ClientRig({ engine, proxy, server, settings })
  }

  get url(): string {
    return this.#server.url
  }

  /** A client that reaches the server directly. */
  client(nodeId: string, options: Partial<LockClientOptions> = {}): LockClient {
    return this.#create({ server: this.url, nodeId, retryInterval: 50, ...options })
  }

  /** A client that reaches the server through the proxy. */
  proxied(nodeId: string, options: Partial<LockClientOptions> = {}): LockClient {
    const server = `http://127.0.0.1:${this.proxy.port}`
    return this.#create({ server, nodeId, retryInterval: 50, ...options })
  }

  #create(options: LockClientOptions): LockClient {
    const client = new LockClient(options)
    this.#clients.push(client)
    return client
  }

  /** The server stops and another starts in its place, with the same engine. */
  async restartServer(): Promise<void> {
    const { port } = this.#server.address
    await this.#server.close()
    const settings = this.#settings
    this.#server = await LockServer.open({
      engine: this.engine,
      settings,
      port,
      sessionGraceMs: GRACE_MS,
    })
  }

  async stopServer(): Promise<void> {
    await this.#server.close()
  }

  async untilWaiting(count: number): Promise<void> {
    while ((await this.engine.read({ kind: 'stats' })).waiters !== count) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async close(): Promise<void> {
    this.proxy.set({})
    await Promise.all(this.#clients.map((client) => client.close()))
    await this.proxy.close()
    await this.#server.close()
    await this.engine.close()
  }
}
