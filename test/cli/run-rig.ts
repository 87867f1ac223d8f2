import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { LockEngine } from '../../src/engine/engine.ts'
import { createLocks } from '../../src/locks/create-locks.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { LockServer } from '../../src/server/lock-server.ts'
import { CliProcess, type CliProcessOptions } from './cli-process.ts'

const BEATER = fileURLToPath(new URL('beater.mjs', import.meta.url))
const WAIT = { timeout: 60_000, interval: 10 }

/** A server in this process, a directory, and command lines in processes of their own. */
export class RunRig {
  readonly engine: LockEngine
  readonly locks: Locks
  readonly directory: string
  readonly server: LockServer
  readonly #processes: CliProcess[] = []

  private constructor(engine: LockEngine, server: LockServer, directory: string) {
    this.engine = engine
    this.server = server
    this.directory = directory
    this.locks = createLocks(engine, { owner: 'operator' })
  }

  static async open(sessionGraceMs?: number): Promise<RunRig> {
    const engine = openMemoryEngine({ settings: { lanes: [] } })
    const server = await LockServer.open({ engine, sessionGraceMs })
    return new RunRig(engine, server, await mkdtemp(join(tmpdir(), 'holdfast-run-')))
  }

  async close(): Promise<void> {
    for (const each of this.#processes) each.kill('SIGKILL')
    await Promise.all(this.#processes.map(({ code }) => code))
    await this.locks.close()
    await this.server.close()
    await this.engine.close()
    await rm(this.directory, { recursive: true, force: true })
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  /** `holdfast run KEY …` in the rig's directory. */
  run(args: readonly string[], options: CliProcessOptions = {}): CliProcess {
    return this.start(['run', ...args], options)
  }

  start(args: readonly string[], options: CliProcessOptions = {}): CliProcess {
    const env = { HOLDFAST_SERVER: this.server.url, ...options.env }
    const started = new CliProcess(args, { cwd: this.directory, ...options, env })
    this.#processes.push(started)
    return started
  }

  /** The lines of a file, once there are as many as this. */
  async lines(name: string, count = 1): Promise<string[]> {
    return vi.waitFor(async () => {
      const lines = (await readFile(this.path(name), 'utf8')).split('\n').slice(0, -1)
      if (lines.length < count) throw new Error(`${name} has ${lines.length} lines`)
      return lines
    }, WAIT)
  }

  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    await vi.waitFor(async () => {
      if (!(await condition())) throw new Error('not yet')
    }, WAIT)
  }

  async untilQueued(key: string, count: number): Promise<void> {
    await this.until(async () => (await this.locks.inspect(key)).queueLength === count)
  }

  async isFree(key: string): Promise<boolean> {
    return (await this.locks.inspect(key)).holders.length === 0
  }
}

/**
 * A command that appends the time of day to FILE every few milliseconds and does not care for SIGTERM,
 * which it notes as `SIGTERM`. Its first line is its process id.
 */
export function beat(file: string): string[] {
  return [process.execPath, BEATER, file]
}
