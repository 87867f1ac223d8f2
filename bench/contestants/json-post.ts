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
    const text = JSON.stringify(body)
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${this.#host}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
    ]
    const request = head.join('\r\n') + HEAD_END + text
    const idle = this.#takeIdle()
    const answer = idle === undefined ? null : await this.#exchange(idle, request)
    // A server that closes an idle connection may do so while a request is on its way.
    return answer ?? (await this.#exchange(await this.#open(), request)) ?? fail()
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  /** Null if the server closed the connection instead. */
  async #exchange(connection: PostConnection, request: string): Promise<JsonAnswer | null> {
    const answer = await connection.send(request)
    if (answer !== null) this.#idle.push(connection)
    return answer
  }

  /** Servers close connections that were idle for some seconds, such as during another one's turn. */
  #takeIdle(): PostConnection | undefined {
    let connection = this.#idle.pop()
    while (connection?.isClosed === true) {
      this.#all.delete(connection)
      connection = this.#idle.pop()
    }
    return connection
  }

  async #open(): Promise<PostConnection> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    const connection = new PostConnection(socket)
    this.#all.add(connection)
    return connection
  }
}

class PostConnection {
  readonly #socket: Socket
  #received = ''
  #answer: ((answer: JsonAnswer | null) => void) | undefined
  isClosed = false

  constructor(socket: Socket) {
    this.#socket = socket
    // The bodies of the bench are plain ASCII, so that characters are bytes.
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#receive(text))
    socket.on('error', () => this.#closed())
    socket.on('end', () => this.#closed())
    socket.on('close', () => this.#closed())
  }

  send(request: string): Promise<JsonAnswer | null> {
    return new Promise((resolve) => {
      this.#answer = resolve
      this.#socket.write(request, 'latin1')
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #closed(): void {
    this.isClosed = true
    this.#answer?.(null)
  }

  #receive(text: string): void {
    this.#received += text
    const answer = parseAnswer(this.#received)
    if (answer === null) return
    this.#received = ''
    this.#answer?.(answer)
  }
}

function fail(): never {
  throw new Error('the server closed a new connection')
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
