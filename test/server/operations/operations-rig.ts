import type { LockEngine } from '../../../src/engine/engine.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import { LockServer, type LockServerOptions } from '../../../src/server/lock-server.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { EventLines } from './event-lines.ts'
import { type Answer, type AskOptions, ask } from './plain-http.ts'
import { openTestEngine, pass } from '../test-engine.ts'

/** A real server on a real socket, whose time stands still until it is told to move. */
export class OperationsRig {
  readonly clock: VirtualClock
  readonly engine: LockEngine
  readonly #server: LockServer
  readonly #streams: EventLines[] = []

  private constructor(parts: {
    readonly clock: VirtualClock
    readonly engine: LockEngine
    readonly server: LockServer
  }) {
    this.clock = parts.clock
    this.engine = parts.engine
    this.#server = parts.server
  }

  static async open(
    settings: Partial<LawSettings> = {},
    options: Partial<LockServerOptions> = {},
  ): Promise<OperationsRig> {
    const clock = new VirtualClock()
    const engine = await openTestEngine({ settings, clock })
    const server = await LockServer.open({
      engine,
      settings,
      clock,
      socketClock: clock,
      ...options,
    })
    return new OperationsRig({ clock, engine, server })
  }

  get url(): string {
    return this.#server.url
  }

  post(path: string, body: unknown, options?: AskOptions): Promise<Answer> {
    return ask(this.url, { method: 'POST', path, body, ...options })
  }

  get(path: string, options?: AskOptions): Promise<Answer> {
    return ask(this.url, { method: 'GET', path, ...options })
  }

  lock(body: Record<string, unknown>): Promise<Answer> {
    return this.post('/lock', { type: 'pull', resource_id: 'layer', ...body })
  }

  unlock(body: Record<string, unknown>): Promise<Answer> {
    return this.post('/unlock', { type: 'pull', resource_id: 'layer', error: '', ...body })
  }

  poll(nodeId: string, body: Record<string, unknown> = {}): Promise<Answer> {
    const asked = { type: 'pull', resource_id: 'layer', node_id: nodeId, ...body }
    return this.post('/lock/status', asked)
  }

  /** Resolves when the server has answered with a stream. */
  async subscribe(
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<EventLines> {
    const search = new URLSearchParams({ type: 'pull', resource_id: 'layer', ...query })
    const lines = await EventLines.open(`${this.url}/lock/subscribe?${search}`, headers)
    this.#streams.push(lines)
    return lines
  }

  /** Long enough for the server to have read what reached its sockets before, a close included. */
  async roundTrips(): Promise<void> {
    for (let count = 0; count < 50; count += 1) await this.get('/refs?resource_id=none')
  }

  advance(ms: number): Promise<void> {
    return pass(this.engine, this.clock, ms)
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close()
    await this.#server.close()
    await this.engine.close()
  }
}
