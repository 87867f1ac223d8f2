import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compiledFile } from '../services/compiled-file.ts'

/** The program and its arguments for a command line, as a process of its own takes them. */
export function toProgram(args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, fileURLToPath(compiledFile('cli/main.js')), ...args]
}

export interface CliProcessOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** What is written to its standard input, which then ends. */
  readonly input?: string
}

/** `holdfast` in a process of its own. */
export class CliProcess {
  readonly #process: ChildProcess
  /** The exit code; 128 and the number of the signal as a shell would say, had one ended it. */
  readonly code: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor(args: readonly string[], options: CliProcessOptions = {}) {
    const { env = {}, cwd, input = '' } = options
    const [program, ...words] = toProgram(args)
    this.#process = spawn(program, words, {
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '', HOLDFAST_TEST_DOSE: '', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(cwd !== undefined && { cwd }),
    })
    this.#process.stdout?.on('data', (chunk) => (this.stdout += String(chunk)))
    this.#process.stderr?.on('data', (chunk) => (this.stderr += String(chunk)))
    this.#process.stdin?.on('error', () => {})
    this.#process.stdin?.end(input)
    this.code = new Promise((resolve) => this.#process.once('close', resolve))
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  /** As a reader such as `head` that has seen enough. */
  stopReading(): void {
    this.#process.stdout?.destroy()
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }
}

/** Whether a process is there that can still do something. A dead process that was not collected yet cannot. */
export function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return /^[^Z\s]/.test(stdout)
}
