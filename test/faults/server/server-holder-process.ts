import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'

/** What a holder says: that it has its lock, and that it has it no more. */
interface HolderNews {
  readonly kind: 'held' | 'lost'
  readonly token?: number
  readonly isHeld?: boolean
}

const PROGRAM = fileURLToPath(new URL('server-holder.ts', import.meta.url))

const patience = new Patience(60_000)

/** A process that holds the lock `k` of a server and uses it for as long as it has it. */
export class ServerHolder {
  readonly #child: ChildProcess
  readonly #directory = mkdtempSync(join(tmpdir(), 'holdfast-holder-'))
  readonly #news: HolderNews[] = []

  private constructor(url: string, ttlMs: number) {
    const args = [url, this.#logPath, String(ttlMs)]
    this.#child = fork(PROGRAM, args, { execArgv: ['--import', 'tsx'] })
    this.#child.on('message', (said: HolderNews) => this.#news.push(said))
  }

  /** Resolves when it holds the lock and has begun to use it. */
  static async start(url: string, ttlMs: number): Promise<ServerHolder> {
    const holder = new ServerHolder(url, ttlMs)
    await patience.until(() => holder.#news.length > 0, 'it holds')
    await patience.until(() => holder.uses().length > 20, 'it uses its lock')
    return holder
  }

  get token(): number {
    return this.#news[0]?.token ?? 0
  }

  /** When it used its lock, on the clock of this machine. */
  uses(): number[] {
    return readFileSync(this.#logPath, 'utf8').split('\n').filter(Boolean).map(Number)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** What its lock said when it learned that it is lost. */
  async untilLost(): Promise<HolderNews | undefined> {
    await patience.until(() => this.#news.length > 1, 'it is told')
    return this.#news[1]
  }

  /** It leaves in peace. */
  async leave(): Promise<void> {
    this.#child.send('leave')
    await patience.answer(once(this.#child, 'exit'), 'it leaves')
  }

  async close(): Promise<void> {
    const exited = once(this.#child, 'exit')
    const isAlive = this.#child.exitCode === null && this.#child.signalCode === null
    if (isAlive && this.#child.kill('SIGKILL')) await exited
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #logPath(): string {
    return join(this.#directory, 'uses')
  }
}
