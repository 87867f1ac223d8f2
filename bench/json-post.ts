import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const STATUS_START = 'HTTP/1.1 '.length

export interface JsonAnswer {
  readonly status: number
  readonly body: unknown
}

/**
 * POSTs JSON over connections that it keeps, one request at a time on each. It does the least that a
 * client can do, because it shares the machine with the server that it measures; Node's own client
 * would cost more than the server.
 */
export class JsonPoster {
  readonly #port: number
  readonly #host: string
  readonly #idle: PostConnection[] = []
  readonly #all = new Set<PostConnection>()

  constructor(url: string) {
    const { hostname, port, host } = new URL(url)
    if (hostname !== '127.0.0.1') throw new Error(`${host} is not on this machine`)
    this.#port = Number(port)
    this.#host = host
  }

  async post(path: string, body: unknown): Promise<JsonAnswer> {
    const connection = this.#idle.pop() ?? (await this.#open())
    const text = JSON.stringify(body)
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${this.#host}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
    ]
    const answer = await connection.send(head.join('\r\n') + HEAD_END + text)
    this.#idle.push(connection)
    return answer
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  async #open(): Promise<PostConnection> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    const connection = new PostConnection(socket)
    this.#all.add(connection)
    return connection
  }
}

interface Pending {
  readonly resolve: (answer: JsonAnswer) => void
  readonly reject: (error: Error) => void
}

class PostConnection {
  readonly #socket: Socket
  #received = ''
  #pending: Pending | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    // The bodies of the bench are plain ASCII, so that characters are bytes.
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#receive(text))
    socket.on('error', (error) => this.#pending?.reject(error))
    socket.on('close', () => this.#pending?.reject(new Error('the server closed a connection')))
  }

  send(request: string): Promise<JsonAnswer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#socket.write(request, 'latin1')
    })
  }

  close(): void {
    this.#pending = undefined
    this.#socket.destroy()
  }

  #receive(text: string): void {
    this.#received += text
    const answer = parseAnswer(this.#received)
    if (answer === null) return
    this.#received = ''
    this.#pending?.resolve(answer)
  }
}

/** Null until it is complete. */
export function parseAnswer(text: string): JsonAnswer | null {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd === -1) return null
  const head = text.slice(0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${head}`)
  const bodyStart = headEnd + HEAD_END.length
  if (text.length < bodyStart + Number(length)) return null
  const status = Number(head.slice(STATUS_START, STATUS_START + 3))
  return { status, body: JSON.parse(text.slice(bodyStart, bodyStart + Number(length))) }
}
