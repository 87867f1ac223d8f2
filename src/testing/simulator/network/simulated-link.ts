import type { Capabilities } from '../../../engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../../engine/engine.ts'
import { createError, type LockError } from '../../../engine/errors/errors.ts'
import type { Query, ReplyOf } from '../../../engine/queries.ts'
import type { Command } from '../../../law/model/commands.ts'
import type { OutcomeOf } from '../../../law/model/outcomes.ts'
import type { Clock } from '../../../time/clock.ts'
import type { Random } from '../../random.ts'
import type { VirtualClock } from '../../virtual-clock.ts'
import { Connection } from './connection.ts'
import type { EngineHost } from '../engine-host.ts'
import { LinkCall } from './link-call.ts'
import type { LinkRequest } from './link-request.ts'
import { LinkWatch } from './link-watch.ts'
import type { SimulatedNetwork } from './simulated-network.ts'
import type { SimulatedProcess } from '../simulated-process.ts'
import type { WatchBoard } from '../oracle/watch-board.ts'

const TIMEOUTS_MS: readonly number[] = [300, 800, 1_500]
const CLIENT_NOTICE_MS_MAX = 500
const ENGINE_NOTICE_MS_MAX = 3_000

export interface SimulatedLinkOptions {
  readonly world: VirtualClock
  readonly network: SimulatedNetwork
  readonly host: EngineHost
  readonly watches: WatchBoard
  readonly process: SimulatedProcess
  /** The client's. */
  readonly clock: Clock
  readonly random: Random
}

/** The engine as one client has it: at the other end of a connection that may do anything. */
export class SimulatedLink implements LockEngine {
  readonly capabilities: Capabilities
  readonly #options: SimulatedLinkOptions
  readonly #timeoutMs: number
  #connection: Connection | undefined
  #downUntilMs = 0
  #lastEvent = 0
  #isClosed = false

  constructor(options: SimulatedLinkOptions) {
    this.#options = options
    this.capabilities = options.host.capabilities
    this.#timeoutMs = options.random.pick(TIMEOUTS_MS)
    options.process.onDeath(() => this.cut({ isGone: true }))
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>>
  apply(command: Command, { signal }: ApplyOptions = {}): Promise<unknown> {
    if (signal?.aborted === true) {
      const cause: unknown = signal.reason
      return Promise.reject(createError('LOCK_ABORTED', 'aborted before it was sent', { cause }))
    }
    return this.#call({ kind: 'command', command }, signal)
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>>
  read(query: Query): Promise<unknown> {
    return this.#call({ kind: 'query', query }, undefined)
  }

  async watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    const { network, host, process, clock, watches } = this.#options
    const watch = new LinkWatch({
      ...{ filter, listener, network, host, process, clock },
      connect: () => this.#connect(),
      nextId: () => (this.#lastEvent += 1),
      onBegan: (id, place) => watches.began(process.name, id, place),
      unreachable: () => unreachable('there is no connection'),
    })
    await watch.open()
    return watch
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The connection breaks. Until `downMs` have passed, or for good, there is no other. */
  cut({ downMs = 0, isGone = false }: { downMs?: number; isGone?: boolean } = {}): void {
    const { random, world } = this.#options
    this.#downUntilMs = Math.max(this.#downUntilMs, world.nowMs() + downMs)
    this.#connection?.cut({
      clientMs: random.int(0, CLIENT_NOTICE_MS_MAX),
      engineMs: isGone ? random.int(1, 5) : random.int(0, ENGINE_NOTICE_MS_MAX),
    })
  }

  /** One direction falls silent for a while; nobody is told. */
  silence(direction: 'toEngine' | 'toClient', forMs: number): void {
    if (this.#connection === undefined) return
    this.#connection[direction].silentUntilMs = this.#options.world.nowMs() + forMs
  }

  heal(): void {
    this.#downUntilMs = 0
    if (this.#connection === undefined) return
    this.#connection.toEngine.silentUntilMs = 0
    this.#connection.toClient.silentUntilMs = 0
  }

  #call(request: LinkRequest, signal: AbortSignal | undefined): Promise<unknown> {
    const { network, host, process, clock } = this.#options
    if (this.#isClosed) return Promise.reject(createError('LOCK_ENGINE_CLOSED', 'closed'))
    const connection = this.#connect()
    if (connection === undefined) return this.#refuse()
    const timeoutMs = this.#timeoutMs
    const ends = { connection, network, host, process, clock }
    const call = new LinkCall({ ...ends, request, timeoutMs })
    return call.start(signal)
  }

  /** Nothing was sent, and the client finds out as fast as a connection is refused. */
  #refuse(): Promise<never> {
    const { clock, network } = this.#options
    return new Promise((_, reject) => {
      clock.setTimer(network.latencyMs(), () => reject(unreachable('there is no connection')))
    })
  }

  #connect(): Connection | undefined {
    const { world, network, host } = this.#options
    if (this.#connection?.isCut === false) return this.#connection
    if (world.nowMs() < this.#downUntilMs || !host.isUp) return undefined
    this.#connection = new Connection({
      clock: world,
      toEngine: network.createLane(),
      toClient: network.createLane(),
      life: host.life,
    })
    host.connected(this.#connection)
    return this.#connection
  }
}

function unreachable(message: string): LockError {
  return createError('LOCK_ENGINE_UNAVAILABLE', message)
}
