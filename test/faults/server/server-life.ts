import { CliProcess } from '../../cli/cli-process.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'

export interface ServerLifeOptions {
  readonly directory: string
  readonly port: number
  readonly graceMs: number
}

const patience = new Patience(60_000)

/** One life of `holdfast serve` on a directory, in a process of its own. */
export class ServerLife {
  readonly #process: CliProcess

  private constructor(started: CliProcess) {
    this.#process = started
  }

  /** Resolves when it says that it listens. */
  static async start(options: ServerLifeOptions): Promise<ServerLife> {
    const { directory, port, graceMs } = options
    const args = ['serve', '--data', directory, '--port', String(port)]
    // Whoever comes back as fast as it can finds what it was granted meanwhile, however busy the machine.
    args.push('--session-grace', `${graceMs}ms`, '--claim-window', '2m')
    const started = new CliProcess(args, { env: { HOLDFAST_LOG: 'warn' } })
    const life = new ServerLife(started)
    await patience.until(() => started.stdout.includes('\n') || started.hasEnded, 'it listens')
    if (started.hasEnded) throw new Error(`the server does not start: ${started.stderr}`)
    return life
  }

  get complaints(): string {
    return this.#process.stderr
  }

  /** `kill -9`; resolves when it is gone. */
  async kill(): Promise<void> {
    if (!this.#process.hasEnded) this.#process.kill('SIGKILL')
    await this.#process.code
  }

  /** SIGTERM; resolves to the exit code. */
  async stop(): Promise<number | null> {
    this.#process.kill('SIGTERM')
    return patience.answer(this.#process.code, 'it stops')
  }

  pause(): void {
    this.#process.kill('SIGSTOP')
  }

  resume(): void {
    this.#process.kill('SIGCONT')
  }
}
