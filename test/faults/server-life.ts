import { once } from 'node:events'
import { createServer } from 'node:net'
import { CliProcess } from '../cli/cli-process.ts'
import { Patience } from '../../src/testing/engine-suite/patience.ts'
import type { Random } from '../../src/testing/random.ts'

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
    args.push('--session-grace', `${graceMs}ms`)
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

/**
 * A port that nobody listens on, below those that the system gives to outgoing connections: while the
 * server is away, no client's own socket may take its place.
 */
export async function findServerPort(random: Random): Promise<number> {
  for (;;) {
    const port = random.int(12_000, 31_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
