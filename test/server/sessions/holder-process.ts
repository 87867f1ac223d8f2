import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface HolderReport {
  readonly after: string
  readonly token?: number
  readonly isHeld: boolean
  readonly isAborted: boolean
  readonly reason: string
}

export interface HolderOptions {
  readonly url: string
  readonly ttlMs: number
  readonly heartbeatThread: boolean
}

const PROGRAM = fileURLToPath(new URL('session-holder.ts', import.meta.url))

/** A client in a process of its own that can be blocked, stopped and killed. */
export class HolderProcess {
  readonly child: ChildProcess

  private constructor(child: ChildProcess) {
    this.child = child
  }

  /** Resolves when it holds the lock. */
  static async start({
    url,
    ttlMs,
    heartbeatThread,
  }: HolderOptions): Promise<[HolderProcess, HolderReport]> {
    const child = fork(PROGRAM, [url, String(ttlMs), heartbeatThread ? 'thread' : 'no-thread'], {
      execArgv: ['--import', 'tsx'],
    })
    const holder = new HolderProcess(child)
    return [holder, await holder.#next()]
  }

  /** What it reports when it has done this. */
  do(order: string): Promise<HolderReport> {
    this.child.send(order)
    return this.#next()
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exited = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await exited
  }

  async #next(): Promise<HolderReport> {
    const [report] = (await once(this.child, 'message')) as [HolderReport]
    return report
  }
}
