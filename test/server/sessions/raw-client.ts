import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Command } from '../../../src/law/commands.ts'
import {
  writeGoodbye,
  writeHeartbeat,
  writeHello,
  writeRead,
  writeReceived,
} from '../../../src/protocol/session/client-frames.ts'
import type { Hello } from '../../../src/protocol/session/client-message.ts'
import { writeCommand } from '../../../src/protocol/session/command-codec.ts'
import { PackWriter } from '../../../src/protocol/session/pack-writer.ts'
import type { Welcome } from '../../../src/protocol/session/server-message.ts'
import { type Heard, hearServer } from '../../protocol/session/heard.ts'

/** A client that says exactly what a test tells it to, and notes whatever it hears. */
export class RawClient {
  readonly socket: WebSocket
  readonly heard: Heard[] = []
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  welcome: Welcome | undefined
  #ownSession = ''

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/v1/session`, { headers })
    this.socket.on('message', (data: Buffer) => this.heard.push(...hearServer(data)))
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
    })
  }

  /** Connected and welcome. */
  static async open(
    url: string,
    hello: Partial<Hello> = {},
    headers: Record<string, string> = {},
  ): Promise<RawClient> {
    const client = new RawClient(url, headers)
    await once(client.socket, 'open')
    await client.greet(hello)
    return client
  }

  get session(): string {
    return this.#ownSession
  }

  async greet(hello: Partial<Hello> = {}): Promise<void> {
    this.say((writer) =>
      writeHello(writer, {
        version: 1,
        client: 'raw',
        session: undefined,
        received: 0,
        pulse: false,
        ...hello,
      }),
    )
    const [, welcome] = await this.hears('welcome')
    this.welcome = welcome as Welcome
    this.#ownSession = this.welcome.session
  }

  say(...messages: ((writer: PackWriter) => void)[]): void {
    const writer = new PackWriter()
    for (const message of messages) message(writer)
    this.socket.send(writer.take())
  }

  ask(id: number, command: Command): void {
    const ownSession = this.#ownSession
    this.say((writer) => writeCommand(writer, command, { id, ownSession, mayAbort: false }))
  }

  read(id: number, query: Parameters<typeof writeRead>[2]): void {
    this.say((writer) => writeRead(writer, id, query))
  }

  beat(sentAtMs: number): void {
    this.say((writer) => writeHeartbeat(writer, { sentAtMs, received: 0 }))
  }

  confirm(frame: number): void {
    this.say((writer) => writeReceived(writer, frame))
  }

  goodbye(): void {
    this.say((writer) => writeGoodbye(writer))
  }

  /** The first message of this kind, and for this id if one is given. */
  async hears(name: string, id?: number): Promise<Heard> {
    for (;;) {
      const found = this.heard.find((one) => one[0] === name && (id === undefined || one[1] === id))
      if (found !== undefined) return found
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`${name} was never heard`)
      await Promise.race([this.#next(), this.closed])
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('message', () => resolve())
    })
  }

  /** As a process that is killed. */
  cut(): void {
    this.socket.terminate()
  }
}
