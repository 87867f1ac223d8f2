import type { VirtualClock } from '../../virtual-clock.ts'
import type { MessageLane } from './simulated-network.ts'

/** A call as its client waits for it. */
export interface PendingCall {
  /** Nothing more will be heard of it. */
  fail(): void
}

/** A wait as whoever serves it holds it open. */
export interface OpenWait {
  /** Its client is out of reach. */
  abandon(): void
}

export interface ConnectionOptions {
  readonly clock: VirtualClock
  readonly toEngine: MessageLane
  readonly toClient: MessageLane
  /** The life of the engine that it leads to. */
  readonly life: number
}

/** How long each side takes to notice that a connection is cut. */
export interface CutNotice {
  readonly clientMs: number
  readonly engineMs: number
}

/** A connection between one client and one life of the engine, from both sides. */
export class Connection {
  readonly toEngine: MessageLane
  readonly toClient: MessageLane
  readonly life: number
  readonly pending: Set<PendingCall> = new Set()
  /** The waits that the engine holds open for this client. */
  readonly open: Set<OpenWait> = new Set()
  readonly #clock: VirtualClock
  #isCut = false
  #isKnownToEngine = false

  constructor(options: ConnectionOptions) {
    this.#clock = options.clock
    this.toEngine = options.toEngine
    this.toClient = options.toClient
    this.life = options.life
  }

  get isCut(): boolean {
    return this.#isCut
  }

  /** The engine's side has noticed that nobody is there any more. */
  get isKnownCut(): boolean {
    return this.#isKnownToEngine
  }

  cut({ clientMs, engineMs }: CutNotice): void {
    if (this.#isCut) return
    this.#isCut = true
    this.#clock.setTimer(clientMs, () => {
      for (const call of [...this.pending]) call.fail()
    })
    if (engineMs === 0) this.#hangUp()
    else this.#clock.setTimer(engineMs, () => this.#hangUp())
  }

  /** The engine's side is gone: there is nobody to end anything there. */
  abandon(): void {
    this.open.clear()
  }

  #hangUp(): void {
    this.#isKnownToEngine = true
    for (const wait of [...this.open]) wait.abandon()
  }
}
