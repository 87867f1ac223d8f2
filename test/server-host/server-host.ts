/**
 * Lock servers in a process of their own, for tests that need a real one.
 *
 * ```ts
 * const host = await startServerHost()
 * const server = await host.open({ engine: 'memory:', virtualClock: true })
 * // … ask server.url …
 * await server.advance(10_000)
 * await host.stop()
 * ```
 *
 * One child hosts any number of servers, each on its own engine (`memory:` or a directory). With
 * `virtualClock` leases, graces and patience stand still until `advance` moves them, while sockets live
 * on real time. `host.kill()` is `kill -9` of the child with all its servers; to show a restart, start
 * another host and open the same directory, perhaps on the same port.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HostAnswer, HostCall, HostedServerOptions, OpenedServer } from './host-messages.ts'

const PROGRAM = fileURLToPath(new URL('host-process.ts', import.meta.url))

/** One server of a host. */
export interface HostedServer {
  readonly url: string
  readonly port: number
  /** Moves the server's virtual clock; resolves when everything that fell due has happened. */
  advance(ms: number): Promise<void>
  /** Closes the server, then its engine. */
  close(): Promise<void>
}

export interface ServerHost {
  readonly pid: number
  open(options: HostedServerOptions): Promise<HostedServer>
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>
  /** Closes every server and engine, and ends the process. Harmless after `kill`. */
  stop(): Promise<void>
}

export async function startServerHost(): Promise<ServerHost> {
  const child = fork(PROGRAM, {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'spawn')
  return new ForkedHost(child)
}

interface Pending {
  resolve(opened: OpenedServer | undefined): void
  reject(error: Error): void
}

class ForkedHost implements ServerHost {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  readonly #pending = new Map<number, Pending>()
  #calls = 0
  #hasEnded = false

  constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'exit').then(() => this.#onEnd())
    child.on('message', (answer: HostAnswer) => this.#take(answer))
    // A message to a child that has just been killed; its end says the rest.
    child.on('error', () => {})
  }

  get pid(): number {
    return this.#child.pid as number
  }

  async open(options: HostedServerOptions): Promise<HostedServer> {
    const { server, url, port } = (await this.#call({ kind: 'open', options })) as OpenedServer
    return {
      url,
      port,
      advance: async (ms) => {
        await this.#call({ kind: 'advance', server, ms })
        // What the servers sent on the way is at our sockets now; let it be read first.
        await setImmediate()
        await setImmediate()
      },
      close: async () => {
        await this.#call({ kind: 'close', server })
      },
    }
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded && this.#child.connected) this.#child.disconnect()
    await this.#ended
  }

  #call(call: HostCall): Promise<OpenedServer | undefined> {
    if (this.#hasEnded) return Promise.reject(new Error('the host has ended'))
    this.#calls += 1
    const id = this.#calls
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      this.#child.send({ id, call })
    })
  }

  #take(answer: HostAnswer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if ('failure' in answer) pending?.reject(new Error(answer.failure))
    else pending?.resolve(answer.opened)
  }

  #onEnd(): void {
    this.#hasEnded = true
    for (const { reject } of this.#pending.values()) reject(new Error('the host has ended'))
    this.#pending.clear()
  }
}
