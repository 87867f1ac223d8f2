import type { LockEngine } from '../../engine/engine.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import type { Acquire, Begin } from '../../law/model/commands.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import { isHeldOpen, toCancel } from '../../engine/waits/waiting-command.ts'
import type { Random } from '../random.ts'
import type { SimulatedDisk } from '../simulated-disk.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { ServedRequest } from './engine-host.ts'
import type { EngineWitness } from './oracle/engine-witness.ts'
import { type LinkRequest, type LinkResult, requestNameOf } from './network/link-request.ts'
import type { OpenSimulatedEngine } from './open-simulated-engine.ts'
import type { Problems } from './problems.ts'
import { ProcessClock } from './process-clock.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { toLine, type Trace } from './trace.ts'
import type { WatchBoard } from './oracle/watch-board.ts'
import { feedWatch, type WatchFeed } from './oracle/watch-feed.ts'

export interface EngineLifeOptions {
  readonly world: VirtualClock
  readonly disk: SimulatedDisk
  readonly open: OpenSimulatedEngine
  readonly settings: Partial<LawSettings>
  readonly compactMinBytes: number
  readonly preallocateBytes: number
  readonly salts: Random
  readonly witness: EngineWitness
  readonly watches: WatchBoard
  readonly problems: Problems
  readonly trace: Trace
  /** Where its clock begins. */
  readonly zeroMs: number
  readonly onFailed: (error: unknown) => void
  /** How many operations of the disk have gone wrong so far. */
  diskFaults(): number
}

/** One life of the engine, from its start to its end, whichever kind of end that is. */
export class EngineLife {
  readonly name: string
  readonly process: SimulatedProcess
  readonly #options: EngineLifeOptions
  readonly #clock: ProcessClock
  readonly #diskFaultsBefore: number
  /** The requests that are being served, by name, for those that wait. */
  readonly #served = new Map<string, Set<ServedRequest>>()
  /** Waits whose answer was sent to somebody. */
  readonly #told = new Set<string>()
  #engine: LockEngine | undefined
  #state: 'starting' | 'up' | 'stopping' | 'over' = 'starting'

  constructor(number: number, options: EngineLifeOptions) {
    this.#options = options
    this.name = `engine#${number}`
    this.#diskFaultsBefore = options.diskFaults()
    this.process = new SimulatedProcess(this.name, options.world)
    this.#clock = new ProcessClock(options.world, this.process, {
      nowMs: options.zeroMs,
      rate: 1,
    })
  }

  get isUp(): boolean {
    return this.#state === 'up'
  }

  /** Up, not held up by a pause, and not stopped by its disk. */
  get isOnTime(): boolean {
    return this.isUp && this.process.isUpToDate && this.#isDiskSound
  }

  get #isDiskSound(): boolean {
    return this.#options.diskFaults() === this.#diskFaultsBefore
  }

  /** Also while it is being closed: it answers until the end. */
  get engine(): LockEngine | undefined {
    return this.#engine
  }

  async start(): Promise<void> {
    const { open, witness, watches, onFailed, disk, settings, salts } = this.#options
    witness.beginLife(() => this.#clock.nowMs())
    watches.beginLife()
    try {
      const engine = await open({
        disk: disk.mount(),
        clock: this.#clock,
        settings,
        compactMinBytes: this.#options.compactMinBytes,
        preallocateBytes: this.#options.preallocateBytes,
        defer: (run) => void this.#clock.setTimer(0, run),
        createSalt: () => salts.uint32(),
        observe: (law) => witness.observe(law),
      })
      if (this.process.isDead) return
      await witness.checkRecovered(engine)
      await engine.watch({}, (event) => {
        witness.told(event)
        watches.told(event)
      })
      this.#engine = engine
      this.#state = 'up'
      this.#options.trace.note(this.name, 'is up')
    } catch (error) {
      if (!this.process.isDead) onFailed(error)
    }
  }

  async stop(): Promise<void> {
    this.#state = 'stopping'
    await this.#engine?.close()
    if (!this.process.isDead) this.#options.witness.closed(this.#isDiskSound)
  }

  kill(): void {
    this.#state = 'over'
    this.#engine = undefined
    this.process.kill()
  }

  serve(served: ServedRequest): void {
    this.process.run(() => void this.#serve(served))
  }

  watch(feed: WatchFeed): void {
    const clock = this.#clock
    const { watches: board } = this.#options
    this.process.run(() => {
      if (this.#engine !== undefined) void feedWatch({ engine: this.#engine, clock, board }, feed)
    })
  }

  async #serve(served: ServedRequest): Promise<void> {
    const { request } = served
    const names = this.#enter(served)
    const result = await this.#ask(request, served.signal)
    if (this.process.isDead) return
    names?.delete(served)
    this.#options.trace.note(this.name, `${describe(request)} -> ${describeResult(result)}`)
    served.answer(result)
  }

  #enter(served: ServedRequest): Set<ServedRequest> | undefined {
    const { request } = served
    if (request.kind !== 'command' || !isHeldOpen(request.command)) return undefined
    const name = requestNameOf(request.command)
    const others = this.#served.get(name) ?? new Set()
    others.add(served)
    this.#served.set(name, others)
    return others
  }

  async #ask(request: LinkRequest, signal: AbortSignal | undefined): Promise<LinkResult> {
    const engine = this.#engine
    if (engine === undefined) return new Promise(() => {})
    const { witness } = this.#options
    const from = witness.count
    if (request.kind === 'command' && request.command.kind === 'close-session') {
      witness.expectFarewell(request.command.session)
    }
    try {
      const asked =
        request.kind === 'query'
          ? engine.read(request.query)
          : engine.apply(request.command, { signal })
      const until = witness.count
      const checkReading = witness.expectReading(request)
      const value: unknown = await asked
      // On a full disk reads show what is durable, which may be less than what was decided.
      const isBehind = request.kind === 'query' && !this.#isDiskSound
      if (!this.process.isDead && !isBehind) {
        witness.acknowledge(request, until, value)
        checkReading(value)
      }
      return { kind: 'value', value }
    } catch (error) {
      if (!this.process.isDead) this.#onError(request, error, from)
      return { kind: 'error', error }
    }
  }

  #onError(request: LinkRequest, error: unknown, from: number): void {
    const { witness, problems, onFailed } = this.#options
    const isOrdinary =
      isLockError(error, 'LOCK_ABORTED') ||
      isLockError(error, 'LOCK_ENGINE_CLOSED') ||
      isLockError(error, 'LOCK_STORAGE_FAILED')
    if (!isOrdinary) {
      problems.add('no defect', `${describe(request)} failed: ${describeError(error)}`)
      return
    }
    // What an abort means for the request is seen from what is remembered of it.
    const isDenied = error.applied === 'no' && error.code !== 'LOCK_ABORTED'
    if (isDenied) witness.denied(request, from)
    if (error.code === 'LOCK_STORAGE_FAILED') onFailed(error)
  }

  /** Whether somebody who is there waits for the same. */
  #isServedElsewhere(command: Acquire | Begin): boolean {
    const others = this.#served.get(requestNameOf(command)) ?? []
    return [...others].some((other) => !other.isCut())
  }

  /** As a server does it: the wait is given up in the name of who is gone, or this call of it ends. */
  abandon({ request }: ServedRequest, end: () => void): void {
    this.process.run(() => {
      if (request.kind !== 'command' || !isHeldOpen(request.command)) return
      if (this.#isServedElsewhere(request.command)) end()
      else
        void this.#ask(
          { kind: 'command', command: toCancel(request.command, 'abandoned') },
          undefined,
        )
    })
  }

  takeBack(request: LinkRequest, result: LinkResult): void {
    if (request.kind !== 'command' || !isHeldOpen(request.command)) return
    const isGrant = result.kind === 'value' && (result.value as { kind: string }).kind === 'granted'
    if (!isGrant) return
    // Somebody else was told, or will be, under the same name: the grant is taken.
    const name = requestNameOf(request.command)
    if (this.#told.has(name) || this.#isServedElsewhere(request.command)) return
    this.#options.trace.note(this.name, `takes back ${describe(request)}`)
    void this.#ask({ kind: 'command', command: toCancel(request.command, 'abandoned') }, undefined)
  }

  /** The answer is on its way to somebody who is there. */
  told(request: LinkRequest): void {
    if (request.kind !== 'command' || !isHeldOpen(request.command)) return
    this.#told.add(requestNameOf(request.command))
  }
}

function describe(request: LinkRequest): string {
  return toLine(request.kind === 'command' ? request.command : request.query)
}

function describeResult(result: LinkResult): string {
  return result.kind === 'value' ? toLine(result.value) : describeError(result.error)
}

function describeError(error: unknown): string {
  if (isLockError(error)) return `${error.code} applied: ${error.applied} (${error.message})`
  return error instanceof Error ? `${error.name}: ${error.message} ${error.stack}` : String(error)
}
