import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What was asked of a stub. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly atMs: number
}

/** A server that answers as a test says, and keeps what it was asked. */
export class StubServer implements AsyncDisposable {
  readonly asked: Asked[] = []
  readonly #http = createServer((request, response) => {
    const { method = '', url = '' } = request
    const path = url.replace(/\?.*/, '')
    this.asked.push({ method, path, atMs: performance.now() })
    request.resume()
    request.on('end', () => this.#answer({ method, path, response, request }))
  })
  readonly #answer: (exchange: StubExchange) => void

  private constructor(answer: (exchange: StubExchange) => void) {
    this.#answer = answer
  }

  static async listen(answer: (exchange: StubExchange) => void): Promise<StubServer> {
    const stub = new StubServer(answer)
    await new Promise<void>((resolve) => {
      stub.#http.listen(0, '127.0.0.1', resolve)
    })
    return stub
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** When each request for a path came. */
  timesOf(path: string): number[] {
    return this.asked.filter((one) => one.path === path).map(({ atMs }) => atMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }
}

export interface StubExchange {
  readonly method: string
  readonly path: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
