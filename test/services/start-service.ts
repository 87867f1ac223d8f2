import { chownSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from './find-program.ts'
import { findFreePort } from './free-port.ts'
import type { Program, ProgramSources } from './program.ts'
import { ServerProcess } from './server-process.ts'
import { createGivenService, type Service, type ServiceOptions } from './service.ts'

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
export async function startService(kind: ServerKind, options: ServiceOptions): Promise<Service> {
  const { environment = process.env, cache = CACHE } = options
  const given = environment[kind.sources.variable]
  if (given !== undefined && given !== '') return createGivenService(given)
  const program = await findProgram(kind.sources, { environment, cache })
  for (let tried = 1; ; tried += 1) {
    try {
      return await startOnce(kind, program)
    } catch (error) {
      const isPortTaken = /address already in use/i.test((error as Error).message)
      if (!isPortTaken || tried === PORTS_TRIED) throw error
    }
  }
}

async function startOnce(kind: ServerKind, program: Program): Promise<Service> {
  const { sources, prepare, listArgs, probe, toUrl, stopSignal, user } = kind
  const directory = mkdtempSync(join(tmpdir(), `holdfast-${sources.name}-`))
  if (user !== undefined) chownSync(directory, user, user)
  const site = { program, directory, port: await findFreePort(), user }
  let server: ServerProcess | undefined
  try {
    await prepare?.(site)
    const { path, environment } = program
    const args = await listArgs(site)
    server = await ServerProcess.start({ path, args, directory, stopSignal, environment, user })
    await server.waitUntilReady(() => probe(site))
    return toService(server, site.port, toUrl)
  } catch (error) {
    await (server?.stop() ?? rm(directory, { recursive: true }))
    throw new Error(`${sources.name} does not start: ${(error as Error).message}`, { cause: error })
  }
}

function toService(server: ServerProcess, port: number, toUrl: (port: number) => string): Service {
  const { pid, directory } = server
  return {
    url: toUrl(port),
    port,
    own: { pid, directory },
    stop: () => server.stop(),
    kill: () => server.kill(),
    pause: () => server.pause(),
    resume: () => server.resume(),
  }
}
