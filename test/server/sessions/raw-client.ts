import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Command } from '../../../src/law/model/commands.ts'
import { writeMessage } from '../../../src/wire/session/message-codec.ts'
import { PackWriter } from '../../../src/wire/session/pack-writer.ts'
import { SESSION_VERSION } from '../../../src/wire/session/session-limits.ts'
import type {
  ClientMessage,
  Hello,
  Read,
  ServerMessage,
  Welcome,
} from '../../../src/wire/session/session-message.ts'
import { type Heard, hearServer } from '../../wire/session/heard.ts'

type Kind = ServerMessage['kind']
type OfKind<K extends Kind> = Extract<ServerMessage, { kind: K }>

const NO_ANSWERS: readonly Kind[] = ['welcome', 'heard', 'event', 'lost']

/** A client that says exactly what a test tells it to, and notes whatever it hears. */
export class RawClient {
  readonly socket: WebSocket
  readonly heard: Heard<ServerMessage>[] = []
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  #welcome: Welcome | undefined

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

  get welcome(): Welcome {
    return this.#welcome as Welcome
  }

  get session(): string {
    return this.#welcome?.session ?? ''
  }

  async greet(hello: Partial<Hello> = {}): Promise<void> {
    this.say([SESSION_VERSION, { kind: 'hello', client: 'raw', ...hello }])
    this.#welcome = await this.hears('welcome')
  }

  /** All of it in one frame. */
  say(...messages: readonly (readonly [number, ClientMessage])[]): void {
    const writer = new PackWriter()
    writer.ownSession = this.session
    for (const [number, message] of messages) writeMessage(writer, number, message)
    this.socket.send(writer.take())
  }

  ask(id: number, command: Command): void {
    this.say([id, command])
  }

  read(id: number, query: Read['query']): void {
    this.say([id, { kind: 'read', query }])
  }

  heartbeat(sentAt: number): void {
    this.say([sentAt, { kind: 'heartbeat' }])
  }

  goodbye(): void {
    this.say([0, { kind: 'goodbye' }])
  }

  /** The first message of this kind, and with this number if one is given. */
  async hears<K extends Kind>(kind: K, number?: number): Promise<OfKind<K>> {
    const found = await this.#find(
      (heard) => heard[1].kind === kind && (number === undefined || heard[0] === number),
      kind,
    )
    return found as OfKind<K>
  }

  /** What the request with this id is answered. */
  answer(id: number): Promise<ServerMessage> {
    return this.#find(
      ([number, { kind }]) => number === id && !NO_ANSWERS.includes(kind),
      `the answer to ${id}`,
    )
  }

  hasHeard(kind: Kind, number?: number): boolean {
    return this.heard.some(
      ([one, message]) => message.kind === kind && (number === undefined || one === number),
    )
  }

  async #find(
    test: (heard: Heard<ServerMessage>) => boolean,
    what: string,
  ): Promise<ServerMessage> {
    for (;;) {
      const found = this.heard.find(test)
      if (found !== undefined) return found[1]
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`${what} was never heard`)
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
