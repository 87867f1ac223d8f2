import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** Answers every line with the same line in capitals, and remembers what it was asked. */
export class LineServer {
  readonly lines: string[] = []
  readonly sockets: Set<Socket> = new Set()
  readonly #server: Server

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async listen(): Promise<LineServer> {
    const server = new LineServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket)
    let rest = ''
    socket.on('error', () => {})
    socket.on('close', () => this.sockets.delete(socket))
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        this.lines.push(line)
        socket.write(`${line.toUpperCase()}\n`)
      }
    })
  }
}

/** A client that keeps what it received and how its connection ended. */
export class LineClient {
  received = ''
  ended = false
  closed = false
  error: string | null = null
  readonly socket: Socket

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setEncoding('utf8').on('data', (text: string) => {
      this.received += text
    })
    this.socket.on('end', () => {
      this.ended = true
    })
    this.socket.on('close', () => {
      this.closed = true
    })
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? error.message
    })
  }

  send(text: string): void {
    this.socket.write(text)
  }
}
