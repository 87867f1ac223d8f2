import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Clock } from '../time/clock.ts'
import { SystemClock } from '../time/system-clock.ts'
import type { FaultCounters, FaultSettings } from './fault.ts'
import { ProxiedConnection } from './proxied-connection.ts'
import { Random } from './random.ts'

export interface FaultProxyOptions {
  /** Where connections are passed on to. */
  readonly target: { readonly host?: string; readonly port: number }
  /** Measures delays; the system's clock by default. */
  readonly clock?: Clock
  /** Draws the jitter of delays. */
  readonly random?: Random
}

/**
 * A TCP proxy on the loopback interface that harms what passes through it, on demand and in each
 * direction separately. It starts out harmless. Whoever started it closes it; until then it keeps
 * the process alive, as any listening server does.
 */
export class FaultProxy {
  readonly host: string = '127.0.0.1'
  readonly #server: Server
  readonly #options: FaultProxyOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #open = new Set<ProxiedConnection>()
  readonly #counters: FaultCounters = {
    connectionsAccepted: 0,
    connectFailures: 0,
    connectionsCut: 0,
    connectionsReset: 0,
    answersSwallowed: 0,
    toServer: { bytesForwarded: 0, bytesDropped: 0, piecesDelayed: 0 },
    toClient: { bytesForwarded: 0, bytesDropped: 0, piecesDelayed: 0 },
  }
  #settings: FaultSettings = {}
  #swallowsLeft = 0

  private constructor(options: FaultProxyOptions) {
    this.#options = options
    this.#clock = options.clock ?? new SystemClock()
    this.#random = options.random ?? new Random('fault-proxy')
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client))
  }

  /** Starts a proxy on a free port. */
  static async listen(options: FaultProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options)
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject)
      proxy.#server.listen(0, proxy.host, resolve)
    })
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** How many client connections are not yet gone, half-open ones included. */
  get connections(): number {
    return this.#open.size
  }

  /** A copy of the present counts. */
  get counters(): FaultCounters {
    return structuredClone(this.#counters)
  }

  /**
   * Replaces all faults, for present and future connections; `{}` is harmless. Bytes that are
   * already delayed keep their time, and what was lost stays lost.
   */
  set(settings: FaultSettings): void {
    this.#settings = { ...settings }
    const { toClient } = settings
    this.#swallowsLeft = toClient?.kind === 'swallow' ? (toClient.answers ?? 1) : 0
  }

  /** Resets every present connection at once; new ones are welcome. */
  resetConnections(): void {
    for (const connection of this.#open) connection.reset()
  }

  /** Stops listening and breaks every connection; when it resolves, nothing is open any more. */
  async close(): Promise<void> {
    const open = [...this.#open]
    const stopped = new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
    })
    for (const connection of open) connection.destroy()
    await Promise.all([stopped, ...open.map(({ closed }) => closed)])
  }

  #accept(client: Socket): void {
    const { host = '127.0.0.1', port } = this.#options.target
    this.#counters.connectionsAccepted++
    const connection = new ProxiedConnection({
      client,
      server: connect({ host, port, allowHalfOpen: true }),
      clock: this.#clock,
      random: this.#random,
      counters: this.#counters,
      settings: () => this.#settings,
      takeSwallow: () => this.#swallowsLeft > 0 && this.#swallowsLeft-- > 0,
    })
    this.#open.add(connection)
    void connection.closed.then(() => this.#open.delete(connection))
  }
}
