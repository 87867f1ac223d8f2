import type { Random } from '../../random.ts'
import type { VirtualClock } from '../../virtual-clock.ts'
import type { FaultLog } from '../fault-log.ts'
import type { FaultKind } from '../fault-kinds.ts'

/** One direction of one connection. */
export interface MessageLane {
  /** Messages that are sent before this moment vanish. */
  silentUntilMs: number
  lastArrivalMs: number
}

export interface SimulatedNetworkOptions {
  readonly clock: VirtualClock
  readonly random: Random
  readonly faults: ReadonlySet<FaultKind>
  readonly log: FaultLog
}

/** How often what happens to a message, where the seed has it happen at all. */
const DELAY_CHANCE = 0.1
const DELAY_MS_MAX = 2_000
const DUPLICATE_LAG_MS_MAX = 1_500
const LATENCY_MS_MAX = 4

/** How long it takes until a client that hears nothing takes a request for lost. */
const DETECTION_MS_MAX = 2_500

/** Carries messages: at first carelessly, and once it is healed as they were given to it. */
export class SimulatedNetwork {
  readonly #options: SimulatedNetworkOptions
  readonly #lossChance: number
  readonly #duplicateChance: number
  readonly #resetChance: number
  #isHealed = false

  constructor(options: SimulatedNetworkOptions) {
    this.#options = options
    const { random } = options
    this.#lossChance = random.pick([0.02, 0.05, 0.15])
    this.#duplicateChance = random.pick([0.03, 0.1, 0.3])
    this.#resetChance = random.pick([0.02, 0.1])
  }

  heal(): void {
    this.#isHealed = true
  }

  createLane(): MessageLane {
    return { silentUntilMs: 0, lastArrivalMs: 0 }
  }

  /** Whether the message is on its way; a sender cannot tell. */
  send(lane: MessageLane, fault: 'drop-request' | 'drop-answer', arrive: () => void): boolean {
    const { clock, log } = this.#options
    if (clock.nowMs() < lane.silentUntilMs) return false
    if (this.#happens(fault, this.#lossChance)) {
      log.count(fault)
      return false
    }
    const atMs = this.#arrivalMs(lane)
    clock.setTimer(atMs - clock.nowMs(), arrive)
    return true
  }

  /** A second copy of a request, if there is one, some time after the first. */
  duplicate(arrive: () => void): void {
    if (!this.#happens('duplicate', this.#duplicateChance)) return
    const { clock, random, log } = this.#options
    log.count('duplicate')
    clock.setTimer(random.int(0, DUPLICATE_LAG_MS_MAX), arrive)
  }

  /** Whether the connection breaks before this answer is sent. */
  resets(): boolean {
    const isReset = this.#happens('reset', this.#resetChance)
    if (isReset) this.#options.log.count('reset')
    return isReset
  }

  detectionMs(): number {
    return this.#options.random.int(1, DETECTION_MS_MAX)
  }

  latencyMs(): number {
    return this.#options.random.float() * LATENCY_MS_MAX
  }

  #arrivalMs(lane: MessageLane): number {
    const { clock, random, log } = this.#options
    let atMs = clock.nowMs() + this.latencyMs()
    if (this.#happens('delay', DELAY_CHANCE)) {
      log.count('delay')
      atMs += random.int(1, DELAY_MS_MAX)
    }
    if (atMs < lane.lastArrivalMs) {
      if (this.#happens('reorder', 0.5)) {
        log.count('reorder')
        return atMs
      }
      atMs = lane.lastArrivalMs
    }
    lane.lastArrivalMs = atMs
    return atMs
  }

  #happens(fault: FaultKind, chance: number): boolean {
    return !this.#isHealed && this.#options.faults.has(fault) && this.#options.random.chance(chance)
  }
}
