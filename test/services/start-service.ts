import { chownSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from './find-program.ts'
import { findFreePort } from './free-port.ts'
import type { Program, ProgramSources } from './program.ts'
import { type ServerCommand, ServerProcess } from './server-process.ts'
import { createGivenService, type OwnServer, type Service, type StartOptions } from './service.ts'

const CACHE = fileURLToPath(new URL('../../.cache/services', import.meta.url))
/** Somebody else may take a free port before the server does. */
const PORTS_TRIED = 3

/** Where one server lives, and what it is made of. */
export interface Site {
  readonly program: Program
  readonly directory: string
  readonly port: number
  readonly user: number | undefined
}

/** How to run one kind of server. */
export interface ServerKind {
  readonly sources: ProgramSources
  /** Everything that has to be there before it starts. */
  readonly prepare?: (site: Site) => Promise<void>
  readonly listArgs: (site: Site) => Promise<string[]> | string[]
  /** Rejects for as long as the server does not answer. */
  readonly probe: (site: Site) => Promise<unknown>
  readonly toUrl: (port: number) => string
  readonly stopSignal: NodeJS.Signals
  /** Who runs it, where that must not be root. */
  readonly user?: number | undefined
}

/** The server that the environment names, or one of our own on a free port of the loopback address. */
export async function startService(kind: ServerKind, options: StartOptions): Promise<Service> {
  const { environment = process.env, cache = CACHE, serverEnvironment = {} } = options
  const given = environment[kind.sources.variable]
  if (given !== undefined && given !== '') return createGivenService(given)
  const program = await findProgram(kind.sources, { environment, cache })
  for (let tried = 1; ; tried += 1) {
    try {
      return await startOnce(kind, program, serverEnvironment)
    } catch (error) {
      const isPortTaken = /address already in use/i.test((error as Error).message)
      if (!isPortTaken || tried === PORTS_TRIED) throw error
    }
  }
}

async function startOnce(
  kind: ServerKind,
  program: Program,
  serverEnvironment: Readonly<Record<string, string>>,
): Promise<Service> {
  const { sources, prepare, listArgs, probe, toUrl, stopSignal, user } = kind
  const directory = mkdtempSync(join(tmpdir(), `holdfast-${sources.name}-`))
  if (user !== undefined) chownSync(directory, user, user)
  const site = { program, directory, port: await findFreePort(), user }
  let server: ServerProcess | undefined
  try {
    await prepare?.(site)
    const { path } = program
    const environment = { ...program.environment, ...serverEnvironment }
    const args = await listArgs(site)
    const command = { path, args, directory, stopSignal, environment, user }
    server = await ServerProcess.start(command)
    await server.waitUntilReady(() => probe(site))
    return toService(server, { command, probe: () => probe(site), url: toUrl(site.port) })
  } catch (error) {
    await (server?.stop() ?? rm(directory, { recursive: true }))
    throw new Error(`${sources.name} does not start: ${(error as Error).message}`, { cause: error })
  }
}

/** What is needed to start it once more. */
interface Restart {
  readonly command: ServerCommand
  readonly probe: () => Promise<unknown>
  readonly url: string
}

function toService(first: ServerProcess, { command, probe, url }: Restart): Service {
  let server = first
  return {
    url,
    port: Number(new URL(url).port),
    get own(): OwnServer {
      return { pid: server.pid, directory: server.directory }
    },
    stop: () => server.stop(),
    kill: () => server.kill(),
    restart: async () => {
      const next = await ServerProcess.start(command)
      server.leaveDirectory()
      server = next
      await server.waitUntilReady(probe)
    },
    pause: () => server.pause(),
    resume: () => server.resume(),
  }
}
