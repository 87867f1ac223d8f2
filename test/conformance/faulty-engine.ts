import { randomUUID } from 'node:crypto'
import type { Capabilities } from '../../src/engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../src/engine/engine.ts'
import type { Query, ReplyOf } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/commands.ts'
import type { OutcomeOf } from '../../src/law/outcomes.ts'
import { FaultProxy } from '../../src/testing/fault-proxy.ts'
import { Random } from '../../src/testing/random.ts'
import { SystemClock } from '../../src/time/system-clock.ts'
import type { OpenRemote } from './remote-fixtures.ts'

/** Proof that faults happened and that work was done all the same. */
export interface FaultTally {
  swallowed: number
  cut: number
  reset: number
  delayedToServer: number
  delayedToClient: number
  /** Calls that succeeded before the first fault, with one set, and after the last. */
  before: number
  during: number
  after: number
}

export function createTally(): FaultTally {
  return {
    swallowed: 0,
    cut: 0,
    reset: 0,
    delayedToServer: 0,
    delayedToClient: 0,
    before: 0,
    during: 0,
    after: 0,
  }
}

/** How many calls of each engine pass unharmed at first. */
const UNHARMED = 1
/** Faults are many at first and few later, because each may break hundreds of connections by then. */
const MANY_CALLS = 40
const FAULT_CHANCE_FIRST = 0.3
const FAULT_CHANCE_LATER = 0.03
/** A connection that is broken whenever it is made would never do anything; so it is not for long. */
const LIFT_AFTER_MS = 4
const clock = new SystemClock()

/** Engines behind a proxy of their own that harms their connections, as the seed says. */
export function openThroughFaults(open: OpenRemote, seed: string, tally: FaultTally): OpenRemote {
  let opened = 0
  return async (url, waitNowMs) => {
    opened += 1
    const proxy = await FaultProxy.listen({ target: { port: Number(new URL(url).port) } })
    const through = `http://${proxy.host}:${proxy.port}`
    const faults = new Faults(proxy, new Random(`${seed}-${opened}`))
    return new FaultyEngine({
      engine: await open(through, waitNowMs),
      faults,
      tally,
      openAgain: () => open(through, waitNowMs),
      openUnharmed: () => open(url, waitNowMs),
    })
  }
}

class Faults {
  readonly #proxy: FaultProxy
  readonly #random: Random
  #calls = 0
  #truces = 0

  constructor(proxy: FaultProxy, random: Random) {
    this.#proxy = proxy
    this.#random = random
  }

  get hasBegun(): boolean {
    return this.#calls > UNHARMED
  }

  /** Perhaps harms what is sent next. */
  next(): void {
    this.#calls += 1
    const chance = this.#calls < MANY_CALLS ? FAULT_CHANCE_FIRST : FAULT_CHANCE_LATER
    if (!this.hasBegun || this.#truces > 0 || !this.#random.chance(chance)) return
    const direction = this.#random.pick(['toServer', 'toClient'] as const)
    switch (this.#random.pick(['swallow', 'cut', 'reset', 'break', 'delay'])) {
      case 'swallow':
        return this.#proxy.set({ toClient: { kind: 'swallow' } })
      case 'cut':
        this.#proxy.set({ [direction]: { kind: 'cut', afterBytes: this.#random.int(0, 150) } })
        return this.#lift()
      case 'reset':
        this.#proxy.set({ [direction]: { kind: 'reset' } })
        return this.#lift()
      case 'break':
        return this.#proxy.resetConnections()
      default: {
        const delay = { kind: 'delay', delayMs: 1, jitterMs: 4 } as const
        this.#proxy.set({ toServer: delay, toClient: delay })
      }
    }
  }

  stop(): void {
    this.#proxy.set({})
  }

  /** Harms nothing from now on, until as many have said that it may. */
  beginTruce(): void {
    this.#truces += 1
    this.stop()
  }

  endTruce(): void {
    this.#truces -= 1
  }

  async close(tally: FaultTally): Promise<void> {
    const { counters } = this.#proxy
    tally.swallowed += counters.answersSwallowed
    tally.cut += counters.connectionsCut
    tally.reset += counters.connectionsReset
    tally.delayedToServer += counters.toServer.piecesDelayed
    tally.delayedToClient += counters.toClient.piecesDelayed
    await this.#proxy.close()
  }

  #lift(): void {
    clock.setTimer(LIFT_AFTER_MS, () => this.stop())
  }
}

interface FaultyEngineParts {
  readonly engine: LockEngine
  readonly faults: Faults
  readonly tally: FaultTally
  readonly openAgain: () => Promise<LockEngine>
  readonly openUnharmed: () => Promise<LockEngine>
}

/**
 * An engine whose connections may be harmed with every call. As a careful client does, it names what it
 * releases, begins and finishes; a command that has no name and must not be done twice goes over an unharmed
 * connection, because after a lost answer it fails. So does a watch, which tells `reset` after a harm instead
 * of what was missed.
 */
class FaultyEngine implements LockEngine {
  readonly #parts: FaultyEngineParts
  #watcher: Promise<LockEngine> | undefined
  #closing: Promise<void> | undefined

  constructor(parts: FaultyEngineParts) {
    this.#parts = parts
  }

  get capabilities(): Capabilities {
    return this.#parts.engine.capabilities
  }

  apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>> {
    const { engine } = this.#parts
    const named = withRequestId(command)
    if (isRepeatable(named)) return this.#counted(() => engine.apply(named, options))
    return this.#counted(() => this.#unharmed(() => engine.apply(named, options)))
  }

  async #unharmed<Answer>(call: () => Answer | Promise<Answer>): Promise<Answer> {
    const { engine, faults } = this.#parts
    faults.beginTruce()
    try {
      // What was harmed before shows now.
      await engine.read({ kind: 'stats' })
      return await call()
    } finally {
      faults.endTruce()
    }
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    return this.#counted(() => this.#parts.engine.read(query))
  }

  watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    if (this.#closing !== undefined) return this.#parts.engine.watch(filter, listener)
    this.#watcher ??= this.#parts.openUnharmed()
    return this.#watcher.then((engine) => engine.watch(filter, listener))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { engine, faults, tally, openAgain } = this.#parts
    await engine.close()
    await (await this.#watcher)?.close()
    faults.stop()
    const last = await openAgain()
    await last.read({ kind: 'stats' })
    tally.after += 1
    await last.close()
    await faults.close(tally)
  }

  async #counted<Answer>(call: () => Answer | Promise<Answer>): Promise<Answer> {
    const { faults, tally } = this.#parts
    faults.next()
    const phase = faults.hasBegun ? 'during' : 'before'
    const answer = await call()
    tally[phase] += 1
    return answer
  }
}

function withRequestId<C extends Command>(command: C): C {
  const { kind } = command
  if (kind !== 'release' && kind !== 'begin' && kind !== 'finish') return command
  if (command.requestId !== undefined) return command
  return { ...command, requestId: randomUUID() }
}

/** Whether the second of two copies is answered as the first would have been. */
function isRepeatable({ kind }: Command): boolean {
  return !NOT_REPEATABLE.has(kind)
}

const NOT_REPEATABLE: ReadonlySet<Command['kind']> = new Set([
  'force',
  'unref',
  'cancel',
  'withdraw',
  'open-session',
  'close-session',
])
