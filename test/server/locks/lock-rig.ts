import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import type { LockServerOptions } from '../../../src/server/lock-server.ts'
import { type SseMessage, SseReader } from '../../../src/wire/sse/sse-reader.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { type Served, serve } from '../served.ts'
import { assertDescribed, assertEventDescribed } from '../openapi/described-answers.ts'
import { openTestEngine } from '../test-engine.ts'

/** A server on a virtual clock, with the short verbs of these tests. */
export interface LockRig extends Served {
  readonly clock: VirtualClock
  readonly engine: LockEngine
  /** POST to `/v1/acquire`; `key` is `k` unless it says otherwise. */
  acquire(owner: string, fields?: object): ReturnType<Served['post']>
  /** A waiting request on a connection of its own, once it stands in the queue. */
  wait(owner: string, fields?: object): Promise<OpenRequest>
  stream(path: string, headers?: Readonly<Record<string, string>>): Promise<OpenStream>
}

export async function openRig(
  options: Partial<LockServerOptions> & { readonly settings?: Partial<LawSettings> } = {},
): Promise<LockRig> {
  const clock = new VirtualClock({ nowMs: 1_000 })
  const engine = await openTestEngine({ settings: options.settings, history: true, clock })
  const served = await serve({ ...options, engine, clock })
  const { url } = served.server
  return {
    ...served,
    clock,
    engine,
    acquire: (owner, fields = {}) => served.post('/v1/acquire', { key: 'k', owner, ...fields }),
    wait: async (owner, fields = {}) => {
      const open = new OpenRequest(`${url}/v1/acquire`, { key: 'k', owner, ...fields })
      await expect.poll(async () => waiters(engine)).toContain(owner)
      return open
    },
    stream: (path, headers = {}) => OpenStream.open(`${url}${path}`, headers),
  }
}

/** The owners in the queue of the usual key. */
export async function waiters(engine: LockEngine): Promise<string[]> {
  const { queue } = await engine.read({ kind: 'inspect', key: 'k' })
  return queue.map(({ owner }) => owner)
}

export async function holders(engine: LockEngine): Promise<string[]> {
  const reply = await engine.read({ kind: 'inspect', key: 'k' })
  return reply.holders.map(({ owner }) => owner)
}

/** A POST whose connection can be broken. */
export class OpenRequest {
  readonly answer: Promise<{ readonly status: number; readonly body: unknown }>
  /** The interim answers so far. */
  readonly interim: number[] = []
  readonly #request: ClientRequest

  constructor(url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
    this.#request = request(url, { method: 'POST', agent: false, headers })
    this.#request.on('information', ({ statusCode }) => this.interim.push(statusCode))
    this.answer = new Promise((resolve, reject) => {
      this.#request.on('error', reject)
      this.#request.on('response', (response) => {
        const { statusCode: status = 0 } = response
        const { pathname: path } = new URL(url)
        readText(response)
          .then((text) => {
            const body: unknown = JSON.parse(text)
            assertDescribed({ method: 'POST', path, status, body })
            resolve({ status, body })
          })
          .catch(reject)
      })
    })
    this.answer.catch(() => {})
    this.#request.end(JSON.stringify(body))
  }

  hangUp(): void {
    this.#request.destroy()
  }
}

/** A stream of events, and what it has said so far. */
export class OpenStream {
  readonly messages: SseMessage[] = []
  readonly response: IncomingMessage
  readonly ended: Promise<void>
  text = ''

  private constructor(path: string, response: IncomingMessage) {
    this.response = response
    const reader = new SseReader((message) => {
      this.messages.push(message)
      if (message.data !== undefined) assertEventDescribed(path, JSON.parse(message.data))
    })
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      this.text += piece
      reader.feed(piece)
    })
    this.ended = new Promise((resolve) => {
      response.on('close', resolve)
    })
    response.on('error', () => {})
  }

  static open(url: string, headers: Readonly<Record<string, string>>): Promise<OpenStream> {
    return new Promise((resolve, reject) => {
      const call = request(url, { agent: false, headers })
      call.on('error', reject)
      call.on('response', (response) => resolve(new OpenStream(new URL(url).pathname, response)))
      call.end()
    })
  }

  get events(): Record<string, unknown>[] {
    return this.messages
      .filter(({ data }) => data !== undefined)
      .map(({ data }) => JSON.parse(data ?? '') as Record<string, unknown>)
  }

  get lastId(): string {
    return this.messages.at(-1)?.id ?? ''
  }

  async until(count: number): Promise<void> {
    await expect.poll(() => this.events.length).toBeGreaterThanOrEqual(count)
  }

  close(): void {
    this.response.destroy()
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response as AsyncIterable<string>) text += piece
  return text
}
