/** A real server that a test or a bench talks to. */
export interface Service {
  readonly url: string
  readonly port: number
  /** Its process and its data; absent for a server that was given to us and is not ours to touch. */
  readonly own?: OwnServer
  /** End it in its own way and remove its data. A given server is left alone. May be called again. */
  stop(): Promise<void>
  /** End it without warning, as a crash does. Its data stay until `stop`. */
  kill(): Promise<void>
  /** Start it again on its data and its port, after `kill`. Resolves when it answers. */
  restart(): Promise<void>
  /** Stop its processes in their tracks: connections stay open, nothing is answered. */
  pause(): void
  resume(): void
}

export interface OwnServer {
  readonly pid: number
  readonly directory: string
}

/** What every `start…` function accepts. */
export interface ServiceOptions {
  /** Instead of the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Where programs are unpacked that the machine lacks; by default in the cache of the project. */
  readonly cache?: string
}

export interface StartOptions extends ServiceOptions {
  /** What a server of our own finds in its environment besides. */
  readonly serverEnvironment?: Readonly<Record<string, string>>
}

/** What those that start a database accept besides. */
export interface DatabaseOptions extends StartOptions {
  /** Every commit is on disk before it is answered, as databases do by default; tests need not wait for that. */
  readonly isDurable?: boolean
}

/**
 * For a server of our own, whatever the environment names: one whose clock, settings and life are ours
 * to change.
 */
export const OWN: ServiceOptions = {
  environment: Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^HOLDFAST_TEST_\w+_URL$/.test(name)),
  ),
}

/** The server that an environment variable names, used as it is. */
export function createGivenService(url: string): Service {
  const refuse = (): never => {
    throw new Error(`the server at ${new URL(url).host} was given to us and is not ours to disturb`)
  }
  return {
    url,
    port: Number(new URL(url).port),
    stop: async () => {},
    kill: async () => refuse(),
    restart: async () => refuse(),
    pause: refuse,
    resume: refuse,
  }
}
