import type { Capabilities } from '../../engine/capabilities.ts'
import type { LockEngine } from '../../engine/engine.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import type { Timer } from '../../time/clock.ts'
import type { HistoryRecorder } from '../history-recorder.ts'
import type { Random } from '../random.ts'
import type { SimulatedDisk } from '../simulated-disk.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { Connection } from './network/connection.ts'
import { EngineLife } from './engine-life.ts'
import type { LinkRequest, LinkResult } from './network/link-request.ts'
import type { OpenSimulatedEngine } from './open-simulated-engine.ts'
import type { Problems } from './problems.ts'
import type { Trace } from './trace.ts'
import type { EngineWitness } from './oracle/engine-witness.ts'
import type { WatchBoard } from './oracle/watch-board.ts'
import type { WatchFeed } from './oracle/watch-feed.ts'

export interface EngineHostOptions {
  readonly world: VirtualClock
  readonly random: Random
  readonly salts: Random
  readonly disk: SimulatedDisk
  readonly open: OpenSimulatedEngine
  readonly settings: Partial<LawSettings>
  readonly capabilities: Capabilities
  readonly compactMinBytes: number
  readonly preallocateBytes: number
  readonly witness: EngineWitness
  readonly watches: WatchBoard
  readonly recorder: HistoryRecorder
  readonly problems: Problems
  readonly trace: Trace
  /** How many operations of the disk have gone wrong so far. */
  diskFaults(): number
}

/** A request as it arrived. */
export interface ServedRequest {
  readonly request: LinkRequest
  /** Ends the wait, where the request is one that waits. */
  readonly signal: AbortSignal | undefined
  /** Whether it is known that nobody will hear the answer. */
  isCut(): boolean
  answer(result: LinkResult): void
}

/**
 * Where the engine lives: it starts it, kills it, starts it again on what the disk kept, and passes
 * requests on to its present life. It stands for the process that serves the clients: it tells a waiter
 * of its grant, and takes the grant back where it cannot.
 */
export class EngineHost {
  readonly capabilities: Capabilities
  readonly #options: EngineHostOptions
  readonly #connections = new Set<Connection>()
  #lives = 0
  #current: EngineLife | undefined
  #restart: Timer | undefined

  constructor(options: EngineHostOptions) {
    this.#options = options
    this.capabilities = options.capabilities
  }

  /** Counts its starts, from 1. */
  get life(): number {
    return this.#lives
  }

  get isUp(): boolean {
    return this.#current?.isUp === true
  }

  /** The engine, while it is up: for those who look at it from inside. */
  get engine(): LockEngine | undefined {
    return this.isUp ? this.#current?.engine : undefined
  }

  /** Up, and with nothing that could keep it from doing everything in time. */
  get isOnTime(): boolean {
    return this.#current?.isOnTime === true
  }

  isServing(life: number): boolean {
    return life === this.#lives && this.#current?.engine !== undefined
  }

  connected(connection: Connection): void {
    this.#connections.add(connection)
  }

  start(): void {
    this.#restart?.cancel()
    this.#lives += 1
    const { world, random, ...options } = this.#options
    const life = new EngineLife(this.#lives, {
      ...options,
      world,
      zeroMs: random.int(0, 1_000_000),
      onFailed: (error) => this.#onFailed(life, error),
    })
    this.#current = life
    this.#options.trace.note(life.name, 'starts')
    void life.start()
  }

  /** It ends without a word. `power`: what was not synced may be lost. `kill`: the files stay as they look. */
  crash(how: 'power' | 'kill', downMs: number): void {
    const { disk, trace } = this.#options
    trace.note(this.#current?.name ?? 'engine', `ends: ${how}`)
    if (how === 'power') disk.crash()
    else disk.kill()
    this.ended(downMs)
  }

  /** The process is gone already; it comes back after a while. */
  ended(downMs: number): void {
    this.#options.recorder.mark('crash')
    this.#current?.kill()
    this.#current = undefined
    for (const connection of this.#connections) {
      connection.abandon()
      connection.cut({ clientMs: 1, engineMs: 0 })
    }
    this.#connections.clear()
    this.#restart?.cancel()
    this.#restart = this.#options.world.setTimer(downMs, () => this.start())
  }

  /** Closed as it should be, then started again. */
  async restart(downMs: number): Promise<void> {
    const life = this.#current
    if (life?.isUp !== true) return
    this.#options.trace.note(life.name, 'is closed')
    this.#options.recorder.mark('restart')
    await life.stop()
    if (life === this.#current) {
      this.#options.disk.kill()
      this.ended(downMs)
    }
  }

  pause(forMs: number): void {
    const process = this.#current?.process
    process?.pause()
    this.#options.world.setTimer(forMs, () => process?.resume())
  }

  heal(): void {
    this.#current?.process.resume()
    if (this.#current === undefined) this.start()
  }

  serve(request: ServedRequest): void {
    this.#current?.serve(request)
  }

  watch(feed: WatchFeed): void {
    this.#current?.watch(feed)
  }

  /** The client of a request that waits is out of reach. */
  abandon(request: ServedRequest, end: () => void): void {
    this.#current?.abandon(request, end)
  }

  /** The answer could not be told: a grant from the queue is undone, and the queue moves on. */
  takeBack(request: LinkRequest, result: LinkResult): void {
    this.#current?.takeBack(request, result)
  }

  told(request: LinkRequest): void {
    this.#current?.told(request)
  }

  /** It cannot be opened, or stopped working: only what the disk did may be the reason. */
  #onFailed(life: EngineLife, error: unknown): void {
    if (life !== this.#current) return
    const { problems, random } = this.#options
    if (!isOfDisk(error)) {
      problems.add('S16 durability', `the engine does not work: ${String(error)}`)
      return
    }
    this.crash(random.pick(['power', 'kill']), random.int(1, 500))
  }
}

function isOfDisk(error: unknown): boolean {
  if (isLockError(error, 'LOCK_STORAGE_FAILED')) return true
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code === 'ENOSPC' || code === 'EIO'
}
