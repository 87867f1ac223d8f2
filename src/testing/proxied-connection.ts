import type { Socket } from 'node:net'
import type { Clock } from '../time/clock.ts'
import type { Fault, FaultCounters, FaultSettings, SwallowFault } from './fault.ts'
import { FaultPipe } from './fault-pipe.ts'
import type { Random } from './random.ts'

export interface ProxiedConnectionOptions {
  readonly client: Socket
  readonly server: Socket
  readonly clock: Clock
  readonly random: Random
  readonly counters: FaultCounters
  /** The settings of the moment. A new object stands for newly set faults. */
  settings(): FaultSettings
  /** Takes one of the answers that are still to be swallowed; false if none is left. */
  takeSwallow(): boolean
}

type Direction = 'toServer' | 'toClient'

const PASS: Fault = { kind: 'pass' }

/** A client's connection and the one that the proxy made to the server for it. */
export class ProxiedConnection {
  /** Resolves when both sockets are closed. */
  readonly closed: Promise<void>
  readonly #options: ProxiedConnectionOptions
  readonly #pipes: Readonly<Record<Direction, FaultPipe>>
  readonly #sentSince: Record<Direction, number> = { toServer: 0, toClient: 0 }
  #settings: FaultSettings
  #swallowLeft: number | null = null
  #isConnected = false
  #isOver = false

  constructor(options: ProxiedConnectionOptions) {
    const { client, server } = options
    this.#options = options
    this.#settings = options.settings()
    this.#pipes = {
      toServer: this.#createPipe('toServer', client, server),
      toClient: this.#createPipe('toClient', server, client),
    }
    this.closed = Promise.all([untilClosed(client), untilClosed(server)]).then(() => {})
    server.once('connect', () => {
      this.#isConnected = true
    })
    // An error is followed by the socket's close, which says the rest.
    client.on('error', () => {})
    server.on('error', () => {
      if (!this.#isConnected) options.counters.connectFailures++
    })
    client.on('close', (hadError) => this.#onClose('toServer', hadError))
    server.on('close', (hadError) => this.#onClose('toClient', hadError))
  }

  /** Both sides see a reset. */
  reset(): void {
    if (this.#isOver) return
    this.#options.counters.connectionsReset++
    this.destroy()
  }

  destroy(): void {
    this.#stop()
    resetSocket(this.#options.client)
    resetSocket(this.#options.server)
  }

  #createPipe(direction: Direction, source: Socket, target: Socket): FaultPipe {
    const { clock, counters } = this.#options
    return new FaultPipe({
      source,
      target,
      clock,
      counters: counters[direction],
      onPiece: (piece) => this.#onPiece(direction, piece),
      onEnd: () => this.#onEnd(direction),
    })
  }

  #faultOf(direction: Direction): Fault | SwallowFault {
    const settings = this.#options.settings()
    if (settings !== this.#settings) {
      this.#settings = settings
      this.#sentSince.toServer = 0
      this.#sentSince.toClient = 0
    }
    return settings[direction] ?? PASS
  }

  #onPiece(direction: Direction, piece: Buffer): void {
    const pipe = this.#pipes[direction]
    const fault = this.#faultOf(direction)
    if (this.#swallowLeft !== null && direction === 'toClient') return this.#swallow(piece)
    if (pipe.isLost) return pipe.drop(piece)
    switch (fault.kind) {
      case 'pass':
        return this.#send(direction, piece)
      case 'delay':
        return this.#send(direction, piece, this.#draw(fault))
      case 'cut':
        return this.#cut(direction, piece, fault.afterBytes)
      case 'reset':
        pipe.drop(piece)
        return this.reset()
      case 'black-hole':
        return pipe.drop(piece)
      case 'swallow':
        if (this.#sentSince.toServer === 0 || !this.#options.takeSwallow()) {
          return this.#send(direction, piece)
        }
        this.#options.counters.answersSwallowed++
        this.#swallowLeft = fault.bytes ?? 1
        return this.#swallow(piece)
    }
  }

  #send(direction: Direction, piece: Buffer, delayMs = 0): void {
    this.#sentSince[direction] += piece.length
    this.#pipes[direction].send(piece, delayMs)
  }

  #draw(fault: Extract<Fault, { kind: 'delay' }>): number {
    return fault.delayMs + this.#options.random.float() * (fault.jitterMs ?? 0)
  }

  #swallow(piece: Buffer): void {
    this.#pipes.toClient.drop(piece)
    this.#swallowLeft = (this.#swallowLeft ?? 0) - piece.length
    if (this.#swallowLeft <= 0) this.reset()
  }

  #cut(direction: Direction, piece: Buffer, afterBytes: number): void {
    const rest = afterBytes - this.#sentSince[direction]
    if (piece.length < rest) return this.#send(direction, piece)
    const { client, server, counters } = this.#options
    if (rest > 0) this.#send(direction, piece.subarray(0, rest))
    this.#pipes[direction].drop(piece.subarray(Math.max(0, rest)))
    counters.connectionsCut++
    this.#stop()
    client.destroySoon()
    server.destroySoon()
  }

  #onEnd(direction: Direction): void {
    const pipe = this.#pipes[direction]
    const fault = this.#faultOf(direction)
    if (pipe.isLost || fault.kind === 'black-hole') pipe.dropEnd()
    else pipe.send(null, fault.kind === 'delay' ? this.#draw(fault) : 0)
  }

  // The other side learns of a broken connection, unless that direction is a black hole. A clean
  // end has been passed on already, in its turn.
  #onClose(direction: Direction, hadError: boolean): void {
    const { client, server } = this.#options
    const other = direction === 'toServer' ? server : client
    const isHole = this.#pipes[direction].isLost || this.#faultOf(direction).kind === 'black-hole'
    if (this.#isOver || isHole || !hadError) return
    this.#stop()
    resetSocket(other)
  }

  #stop(): void {
    this.#isOver = true
    this.#pipes.toServer.stop()
    this.#pipes.toClient.stop()
  }
}

// A socket that is still connecting would first connect in order to be reset.
function resetSocket(socket: Socket): void {
  if (socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}

function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
    // A reset that comes too late, because the other side has ended already, ends in an error only.
    socket.on('error', () => {
      setImmediate(() => {
        if (socket.closed) resolve()
      })
    })
  })
}
