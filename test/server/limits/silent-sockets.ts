import { connect, type Socket } from 'node:net'

/**
 * Sockets that send what they are given, never read, and never close: not when the other side does, and not
 * when an answer tells them to.
 */
export class SilentSockets {
  readonly #port: number
  readonly #sockets: Socket[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** One more. Resolves when it is connected. */
  async open(bytes: string = ''): Promise<Socket> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true })
    this.#sockets.push(socket)
    socket.on('error', () => {})
    socket.pause()
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve()
      })
    })
    if (bytes !== '') socket.write(bytes, 'latin1')
    return socket
  }

  async openMany(count: number, bytes: string = ''): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.open(bytes)))
  }

  cut(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
  }
}
