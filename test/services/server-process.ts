import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ProcessGuard } from './process-guard.ts'
import { isRunning } from './service-facts.ts'

const PROBE_EVERY_MS = 10
/** A connection that was accepted too early may never be answered. */
const PROBE_MS_MAX = 2_000
const READY_MS_MAX = 60_000
const STOP_MS_MAX = 15_000
const LOG_TAIL = 2_000
/** Linux counts CPU time for programs in hundredths of a second. */
const TICK_MS = 10

export interface ServerCommand {
  readonly path: string
  readonly args: readonly string[]
  /** Everything of the server is in here; it is removed when the server is stopped. */
  readonly directory: string
  readonly stopSignal: NodeJS.Signals
  readonly environment?: Readonly<Record<string, string>>
  /** Run as this user and group; for servers that refuse to run as root. */
  readonly user?: number | undefined
}

/** A server that we started. It writes into a log file, so that nothing here has to read its pipes. */
export class ServerProcess {
  readonly pid: number
  readonly directory: string
  readonly #child: ChildProcess
  readonly #guard: ProcessGuard
  readonly #stopSignal: NodeJS.Signals
  readonly #exited: Promise<unknown>
  #hasExited = false

  private constructor(child: ChildProcess, { directory, stopSignal }: ServerCommand) {
    this.#child = child
    this.pid = child.pid as number
    this.directory = directory
    this.#stopSignal = stopSignal
    this.#guard = new ProcessGuard({ pid: this.pid, signal: stopSignal, directory })
    this.#exited = once(child, 'exit').then(() => {
      this.#hasExited = true
      this.#guard.processEnded()
    })
    // A server that nobody stops does not keep this process alive; the guard ends it afterwards.
    child.unref()
  }

  static async start(command: ServerCommand): Promise<ServerProcess> {
    const { path, args, directory, environment, user } = command
    const log = openSync(join(directory, 'server.log'), 'a')
    const child = spawn(path, args, {
      cwd: directory,
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...environment },
      ...(user === undefined ? {} : { uid: user, gid: user }),
    })
    closeSync(log)
    await once(child, 'spawn')
    return new ServerProcess(child, command)
  }

  readLog(): string {
    return readFileSync(join(this.directory, 'server.log'), 'utf8')
  }

  /** Ask again and again, until the answer is not an error. */
  async waitUntilReady<Answer>(probe: () => Promise<Answer>): Promise<Answer> {
    const deadline = performance.now() + READY_MS_MAX
    for (;;) {
      if (this.#hasExited) throw new Error(`it ended at once: ${this.readLog().slice(-LOG_TAIL)}`)
      try {
        return await within(PROBE_MS_MAX, probe())
      } catch (error) {
        if (performance.now() > deadline) throw error
      }
      await delay(PROBE_EVERY_MS)
    }
  }

  /** CPU time of the process and its threads so far, to 10 ms; known on Linux only, NaN elsewhere. */
  readCpuMs(): number {
    try {
      const text = readFileSync(`/proc/${this.pid}/stat`, 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    } catch {
      return Number.NaN
    }
  }

  async stop(): Promise<void> {
    if (!this.#hasExited) {
      this.#signal(this.#stopSignal)
      this.resume()
      await this.#exitWithin(STOP_MS_MAX)
      if (!this.#hasExited) await this.kill()
    }
    await rm(this.directory, { recursive: true, force: true })
    this.#guard.dismiss()
  }

  async kill(): Promise<void> {
    const children = this.#signalAll('SIGKILL')
    this.#child.ref()
    await this.#exited
    // One that did not get round to ending yet may still have the port.
    while (children.some(isRunning)) await delay(PROBE_EVERY_MS)
  }

  /** It has ended, and somebody else takes over its directory. */
  leaveDirectory(): void {
    this.#guard.dismiss()
  }

  pause(): void {
    this.#signalAll('SIGSTOP')
  }

  resume(): void {
    this.#signalAll('SIGCONT')
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#hasExited) this.#child.kill(signal)
  }

  /** PostgreSQL has a process per connection, each in a group of its own. */
  #signalAll(signal: NodeJS.Signals): number[] {
    if (this.#hasExited) return []
    const children = listChildren(this.pid)
    this.#signal(signal)
    for (const pid of children) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has just ended by itself.
      }
    }
    return children
  }

  async #exitWithin(durationMs: number): Promise<void> {
    this.#child.ref()
    const patience = new AbortController()
    const { signal } = patience
    await Promise.race([this.#exited, delay(durationMs, undefined, { signal }).catch(() => {})])
    patience.abort()
  }
}

async function within<Answer>(durationMs: number, answer: Promise<Answer>): Promise<Answer> {
  const patience = new AbortController()
  const { signal } = patience
  const late = delay(durationMs, undefined, { signal }).then(() => {
    throw new Error(`no answer within ${durationMs} ms`)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    late.catch(() => {})
    patience.abort()
  }
}

/** Known on Linux only; elsewhere a signal reaches the first process and no more. */
function listChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}
