import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LockEngine } from '../../src/engine/engine.ts'
import { WAIT_MS_MAX } from '../../src/engine/validation/limits.ts'
import type {
  EngineFixture,
  OpenedEngine,
  OpenEngineOptions,
} from '../../src/testing/engine-suite/engine-fixture.ts'
import { type HostedServer, type ServerHost, startServerHost } from '../server-host/server-host.ts'
import { histories } from './histories.ts'
import { TimedEngine } from './timed-engine.ts'

/** How a client reaches a server: what it opens, and the time of the server's virtual clock. */
export type OpenRemote = (url: string, waitNowMs: () => number) => Promise<LockEngine>

/** A server process that tests share, and that is started again after a kill. */
export class SharedHost {
  #host: Promise<ServerHost> | undefined

  get(): Promise<ServerHost> {
    this.#host ??= startServerHost()
    return this.#host
  }

  async kill(): Promise<void> {
    const host = await this.#host
    this.#host = undefined
    await host?.kill()
  }

  async stop(): Promise<void> {
    const host = await this.#host
    this.#host = undefined
    await host?.stop()
  }
}

/** On a busy machine a few hundred connections take their time. */
const PATIENCE_MS = 30_000

/** Broken connections are never given up on the virtual clock, which may jump while one is mended. */
const SERVER_OPTIONS = {
  virtualClock: true,
  sessionGraceMs: 60 * 60_000,
  limits: { wait: WAIT_MS_MAX },
} as const

/** A server on an engine in memory, on a virtual clock that stands still until a test moves it. */
export function createRemoteMemoryFixture(
  name: string,
  host: SharedHost,
  open: OpenRemote,
): EngineFixture {
  return {
    name,
    histories,
    patienceMs: PATIENCE_MS,
    open: async ({ settings }: OpenEngineOptions = {}) => {
      const running = await host.get()
      const server = await running.open({ ...SERVER_OPTIONS, engine: 'memory:', settings })
      return new RemoteLife({ server, open }).begin()
    },
  }
}

interface RemoteLifeParts {
  server: HostedServer
  readonly open: OpenRemote
  /** How the server is opened again, and what is removed at the end; absent where nothing is kept. */
  readonly reopen?: () => Promise<HostedServer>
  readonly kill?: () => Promise<void>
  readonly remove?: () => Promise<void>
}

/** A server with the engines that were opened on it, through restarts. */
class RemoteLife {
  readonly #parts: RemoteLifeParts
  readonly #engines: LockEngine[] = []
  #nowMs = 0
  #moving: Promise<void> = Promise.resolve()

  constructor(parts: RemoteLifeParts) {
    this.#parts = parts
  }

  async begin(): Promise<OpenedEngine> {
    const { reopen, kill, remove } = this.#parts
    const opened: OpenedEngine = {
      engine: await this.#open(),
      clock: { nowMs: () => this.#nowMs },
      advance: async (ms) => {
        this.#moving = this.#move(ms)
        await this.#moving
      },
      second: () => this.#open(),
      close: async () => {
        for (const engine of this.#engines) await engine.close()
        await this.#parts.server.close()
        await remove?.()
      },
    }
    if (reopen === undefined || kill === undefined) return opened
    return {
      ...opened,
      reopen: async () => {
        for (const engine of this.#engines.splice(0)) await engine.close()
        await this.#parts.server.close()
        return this.#openAgain(reopen)
      },
      crash: async () => {
        await kill()
        for (const engine of this.#engines.splice(0)) await engine.close()
        return this.#openAgain(reopen)
      },
    }
  }

  async #move(ms: number): Promise<void> {
    await this.#parts.server.advance(ms)
    this.#nowMs += ms
  }

  async #openAgain(reopen: () => Promise<HostedServer>): Promise<LockEngine> {
    this.#parts.server = await reopen()
    return this.#open()
  }

  async #open(): Promise<LockEngine> {
    const engine = await this.#parts.open(this.#parts.server.url, () => this.#nowMs)
    this.#engines.push(engine)
    return new TimedEngine(engine, () => this.#moving)
  }
}

/** The same in a directory; a crash is a `kill -9` of the server's process. */
export function createRemoteFileFixture(
  name: string,
  host: SharedHost,
  open: OpenRemote,
): EngineFixture {
  return {
    name,
    histories,
    patienceMs: PATIENCE_MS,
    open: async ({ settings }: OpenEngineOptions = {}) => {
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-remote-'))
      const reopen = async (): Promise<HostedServer> =>
        (await host.get()).open({
          ...SERVER_OPTIONS,
          engine: { file: directory },
          settings,
        })
      return new RemoteLife({
        server: await reopen(),
        open,
        reopen,
        kill: () => host.kill(),
        remove: () => rm(directory, { recursive: true }),
      }).begin()
    },
  }
}
