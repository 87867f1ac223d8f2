import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CliProcess } from '../cli-process.ts'

/** Directories and processes of `holdfast serve`, gone after the test. */
export class ServeRig {
  readonly #processes: CliProcess[] = []
  readonly #directories: string[] = []

  makeDirectory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-serve-'))
    this.#directories.push(directory)
    return directory
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
    const started = new CliProcess(['serve', ...args], { env, cwd: this.makeDirectory() })
    this.#processes.push(started)
    return started
  }

  /** Resolves when it says that it listens. */
  async serve(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Serving> {
    const started = this.start(['--port', '0', ...args], env)
    await expect.poll(() => started.stdout.includes('\n') || started.hasEnded).toBe(true)
    const url = /^listening on (\S+)\n/.exec(started.stdout)?.[1]
    if (url === undefined) throw new Error(`it does not listen: ${started.stderr}`)
    return { started, url }
  }

  async close(): Promise<void> {
    for (const started of this.#processes.splice(0)) {
      if (!started.hasEnded) started.kill('SIGKILL')
      await started.code
    }
    for (const directory of this.#directories.splice(0)) {
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

export interface Serving {
  readonly started: CliProcess
  readonly url: string
}

export async function post(url: string, path: string, body: unknown): Promise<Response> {
  return fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
}
