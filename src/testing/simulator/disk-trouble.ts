import type { Random } from '../random.ts'
import type { DiskFault, DiskOperation } from '../simulated-disk.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { FaultLog } from './fault-log.ts'

export interface DiskTroubleOptions {
  readonly clock: VirtualClock
  readonly random: Random
  readonly log: FaultLog
  /** The power went in the middle of an operation. */
  readonly onCrash: () => void
}

type DiskFaultKind = 'disk-full' | 'disk-error' | 'disk-crash'

const LATENCY_MS_MAX = 1.5
const SLOW_MS_MAX = 800

/** The operations that can fail in each way; any can be cut short by a crash. */
const CAN_FAIL: Readonly<Record<DiskFaultKind, ReadonlySet<string> | undefined>> = {
  'disk-full': new Set(['write', 'create']),
  'disk-error': new Set(['write', 'sync', 'sync-directory', 'rename', 'create', 'read']),
  'disk-crash': undefined,
}

/** What the disk does beside its work: it takes its time, and fails when the nemesis says so. */
export class DiskTrouble {
  readonly #options: DiskTroubleOptions
  #armed: DiskFaultKind | undefined
  #operationsLeft = 0
  #fullUntilMs = 0
  #slowUntilMs = 0
  #lastDoneMs = 0
  #faults = 0

  constructor(options: DiskTroubleOptions) {
    this.#options = options
  }

  /** How many operations went wrong so far. */
  get faults(): number {
    return this.#faults
  }

  /** One of the next operations goes wrong. */
  arm(kind: DiskFaultKind): void {
    this.#armed = kind
    this.#operationsLeft = this.#options.random.int(0, 12)
  }

  slow(forMs: number): void {
    this.#slowUntilMs = this.#options.clock.nowMs() + forMs
  }

  heal(): void {
    this.#armed = undefined
    this.#fullUntilMs = 0
    this.#slowUntilMs = 0
  }

  /** Completes operations one after the other, as long as each takes. */
  readonly defer = (run: () => void): void => {
    const { clock, random } = this.#options
    const nowMs = clock.nowMs()
    const isSlow = nowMs < this.#slowUntilMs
    const tookMs = random.float() * (isSlow ? SLOW_MS_MAX : LATENCY_MS_MAX)
    this.#lastDoneMs = Math.max(this.#lastDoneMs, nowMs + tookMs)
    clock.setTimer(this.#lastDoneMs - nowMs, run)
  }

  readonly fault = ({ kind }: DiskOperation): DiskFault | undefined => {
    const { clock, random } = this.#options
    if (clock.nowMs() < this.#fullUntilMs && CAN_FAIL['disk-full']?.has(kind)) {
      return this.#fail('disk-full')
    }
    if (this.#armed === undefined || CAN_FAIL[this.#armed]?.has(kind) === false) return undefined
    if (this.#operationsLeft > 0) {
      this.#operationsLeft -= 1
      return undefined
    }
    const armed = this.#armed
    this.#armed = undefined
    if (armed === 'disk-full' && random.chance(0.3)) {
      this.#fullUntilMs = clock.nowMs() + random.int(1, 1_000)
    }
    return this.#fail(armed)
  }

  #fail(kind: DiskFaultKind): DiskFault {
    const { log, onCrash } = this.#options
    log.count(kind)
    this.#faults += 1
    if (kind === 'disk-full') return { kind: 'error', code: 'ENOSPC' }
    if (kind === 'disk-error') return { kind: 'error', code: 'EIO' }
    onCrash()
    return { kind: 'crash' }
  }
}
