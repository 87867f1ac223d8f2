import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Timer } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import type { ServerMetrics } from '../observe/server-metrics.ts'
import type { Patience } from '../server-limits.ts'
import { Connection, type LooksMax } from './connection.ts'

export interface ConnectionsOptions {
  readonly patience: Patience
  /** Connections above this are refused. */
  readonly max: number
  readonly metrics: Pick<ServerMetrics, 'connections' | 'connectionsRefused'>
  /** A request whose turn it is on its connection. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

/**
 * Every connection of one listener, and the deadline for its end. Node ends handshakes, heads and bodies that
 * come too slowly, and connections that are idle. What it leaves is the connection that the server has given
 * up: it waits, without a limit, for the client to close or to read. A client that does neither would
 * keep its place for ever.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #looksMax: LooksMax
  /** As the system sees them, also those that are still in their handshake. */
  readonly #sockets = new Set<Socket>()
  /** As HTTP sees them, until they become sessions. */
  readonly #connections = new Map<Duplex, Connection>()
  readonly #pipelined = { count: 0 }
  /** Real time, as that of Node's own deadlines is. */
  readonly #clock = new SystemClock()
  #timer: Timer | undefined

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const { lingerMs, unsentMs, checkMs } = options.patience
    this.#looksMax = {
      leaving: Math.ceil(lingerMs / checkMs),
      unsent: Math.ceil(unsentMs / checkMs),
    }
  }

  /** From now on every connection of this server is kept here. Looks at them while it listens. */
  follow(server: Server | TlsServer): void {
    const opened = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on('connection', (socket: Socket) => this.#onSocket(socket))
    server.on(opened, (socket: Socket) => this.#onConnection(socket))
    server.on('listening', () => this.#lookLater())
    server.on('close', () => this.#timer?.cancel())
  }

  /** `undefined` for one that is in its handshake, is a session, or is closed. */
  of(socket: Duplex): Connection | undefined {
    return this.#connections.get(socket)
  }

  /** It became a session, which has heartbeats and bounds of its own. */
  handOver(socket: Duplex): void {
    this.#connections.delete(socket)
  }

  /** Cuts every connection, also those that have become sessions and that HTTP has forgotten. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #onSocket(socket: Socket): void {
    const { connections } = this.#options.metrics
    this.#sockets.add(socket)
    connections.set(this.#sockets.size)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      connections.set(this.#sockets.size)
    })
  }

  #onConnection(socket: Socket): void {
    const { max, metrics, handle } = this.#options
    const isAbove = this.#sockets.size > max
    if (isAbove) metrics.connectionsRefused.inc()
    const pipelined = this.#pipelined
    const connection = new Connection({ socket, isAbove, pipelined, handle })
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      this.#connections.delete(socket)
      connection.onClosed()
    })
  }

  #lookLater(): void {
    this.#timer = this.#clock.setTimer(this.#options.patience.checkMs, () => {
      for (const connection of this.#connections.values()) connection.look(this.#looksMax)
      this.#lookLater()
    })
  }
}
