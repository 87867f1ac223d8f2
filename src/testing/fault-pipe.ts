import type { Socket } from 'node:net'
import type { Clock, Timer } from '../time/clock.ts'
import type { DirectionCounters } from './fault.ts'

/** Above this much in flight, reading from the source pauses. */
const IN_FLIGHT_BYTES_MAX = 1_048_576

export interface FaultPipeOptions {
  readonly source: Socket
  readonly target: Socket
  readonly clock: Clock
  readonly counters: DirectionCounters
  /** Called for every piece that the source sends; it says what to do by calling back. */
  onPiece(piece: Buffer): void
  /** Called when the source has ended its side. */
  onEnd(): void
}

/** One direction of one connection: carries pieces from a source to a target, perhaps later. */
export class FaultPipe {
  readonly #options: FaultPipeOptions
  readonly #inFlight: { readonly piece: Buffer | null; readonly dueAtMs: number }[] = []
  #inFlightBytes = 0
  #timer: Timer | null = null
  #isLost = false

  constructor(options: FaultPipeOptions) {
    this.#options = options
    options.source.on('data', (piece: Buffer) => options.onPiece(piece))
    options.source.on('end', () => options.onEnd())
    options.target.on('drain', () => this.#regulate())
  }

  /** Something was dropped, so nothing that comes later may arrive. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Nothing is on its way any more. */
  get isEmpty(): boolean {
    return this.#inFlight.length === 0
  }

  drop(piece: Buffer): void {
    this.#isLost = true
    this.#options.counters.bytesDropped += piece.length
  }

  /** The end of the stream gets lost as well. */
  dropEnd(): void {
    this.#isLost = true
  }

  /** `null` is the end of the stream. It arrives after everything that was sent before. */
  send(piece: Buffer | null, delayMs = 0): void {
    const { clock, counters } = this.#options
    if (delayMs > 0 && piece !== null) counters.piecesDelayed++
    const lastDueAtMs = this.#inFlight.at(-1)?.dueAtMs ?? 0
    const dueAtMs = Math.max(lastDueAtMs, clock.nowMs() + delayMs)
    this.#inFlight.push({ piece, dueAtMs })
    this.#inFlightBytes += piece?.length ?? 0
    this.#deliver()
  }

  /** Forgets what is on its way. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#inFlight.length = 0
  }

  #deliver(): void {
    this.#timer?.cancel()
    this.#timer = null
    const { clock } = this.#options
    for (let next = this.#inFlight[0]; next !== undefined; next = this.#inFlight[0]) {
      const remainingMs = next.dueAtMs - clock.nowMs()
      if (remainingMs > 0) {
        this.#timer = clock.setTimer(remainingMs, () => this.#deliver())
        break
      }
      this.#inFlight.shift()
      this.#arrive(next.piece)
    }
    this.#regulate()
  }

  #arrive(piece: Buffer | null): void {
    const { target, counters } = this.#options
    this.#inFlightBytes -= piece?.length ?? 0
    if (!target.writable) {
      counters.bytesDropped += piece?.length ?? 0
    } else if (piece === null) {
      target.end()
    } else {
      counters.bytesForwarded += piece.length
      target.write(piece)
    }
  }

  #regulate(): void {
    const { source, target } = this.#options
    const isFull = target.writableNeedDrain || this.#inFlightBytes > IN_FLIGHT_BYTES_MAX
    if (isFull) source.pause()
    else source.resume()
  }
}
