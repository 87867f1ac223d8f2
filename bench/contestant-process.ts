import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ChildMessage, MeasureRequest } from './contestant-child.ts'
import type { Sample } from './scenario.ts'

const CHILD = fileURLToPath(new URL('./contestant-child.ts', import.meta.url))
/** Far more than the slowest round needs; a contestant that hangs ends the bench. */
const ANSWER_MS_MAX = 300_000
/** A million locks of any contestant fit into this. */
const HEAP_MIB = 4096

export interface ContestantOptions {
  readonly scenario: string
  readonly contestant: string
  readonly dose: string
  readonly environment: Readonly<Record<string, string>>
}

/** The bench's side of a process that measures one contestant. */
export class ContestantProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#exited = once(child, 'exit')
  }

  static async start(options: ContestantOptions): Promise<ContestantProcess> {
    const { scenario, contestant, dose, environment } = options
    const child = fork(CHILD, [scenario, contestant, dose], {
      execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MIB}`],
      env: { ...process.env, ...environment },
    })
    const started = new ContestantProcess(child)
    await started.#receive()
    return started
  }

  async measure(request: MeasureRequest): Promise<Sample> {
    this.#child.send(request)
    const message = await this.#receive()
    if (message.kind !== 'sample') throw new Error('a contestant answered out of turn')
    return message.sample
  }

  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.#exited
  }

  /** The next message; what went wrong in the child is on the bench's standard error. */
  async #receive(): Promise<ChildMessage> {
    const ended = this.#exited.then(() => {
      throw new Error(`a contestant ended early: ${this.#child.spawnargs.slice(-3).join(', ')}`)
    })
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const [message] = await Promise.race([once(this.#child, 'message', { signal }), ended])
    return message as ChildMessage
  }
}
