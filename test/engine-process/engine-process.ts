/**
 * Engines on databases in a process of their own, for tests that need two.
 *
 * ```ts
 * const process = await EngineProcess.start()
 * const engine = await process.open({ database: { kind: 'sqlite', where: file } })
 * await engine.apply({ kind: 'acquire', … })
 * await process.kill() // kill -9
 * ```
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { WatchListener } from '../../src/engine/engine.ts'
import { createError } from '../../src/engine/errors/errors.ts'
import type {
  ChildCall,
  ChildFailure,
  ChildMessage,
  OpenChildEngine,
  OpenedChildEngine,
} from './engine-messages.ts'
import { ProcessEngine } from './process-engine.ts'

const PROGRAM = fileURLToPath(new URL('engine-child.ts', import.meta.url))

interface Pending {
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** A call to the child: its number there, and its answer. */
export interface ChildAnswer {
  readonly id: number
  readonly answer: Promise<unknown>
}

export class EngineProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  readonly #pending = new Map<number, Pending>()
  readonly #listeners = new Map<number, WatchListener>()
  #calls = 0
  #hasEnded = false

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'exit').then(() => this.#onEnd())
    child.on('message', (message: ChildMessage) => this.#take(message))
    // A message to a child that has just been killed; its end says the rest.
    child.on('error', () => {})
  }

  /** With these variables in its environment besides. */
  static async start(environment: Readonly<Record<string, string>> = {}): Promise<EngineProcess> {
    const child = fork(PROGRAM, {
      env: { ...process.env, ...environment },
      execArgv: ['--import', 'tsx'],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    await once(child, 'spawn')
    return new EngineProcess(child)
  }

  get pid(): number {
    return this.#child.pid as number
  }

  async open(options: OpenChildEngine): Promise<ProcessEngine> {
    const opened = (await this.call({ kind: 'open', options }).answer) as OpenedChildEngine
    return new ProcessEngine(this, opened)
  }

  call(call: ChildCall): ChildAnswer {
    this.#calls += 1
    const id = this.#calls
    const answer = new Promise((resolve, reject) => {
      if (this.#hasEnded) throw new Error('the process has ended')
      this.#pending.set(id, { resolve, reject })
      // What cannot be sent any more is answered by the end of the process.
      this.#child.send({ id, call }, () => {})
    })
    return { id, answer }
  }

  /** Ends the wait of an earlier call. */
  abort(id: number): void {
    if (this.#child.connected) this.#child.send({ abort: id }, () => {})
  }

  /** What a watch of this number sees goes to the listener. */
  listen(watch: number, listener: WatchListener): void {
    this.#listeners.set(watch, listener)
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Lets the process end. Harmless after `kill`. */
  async stop(): Promise<void> {
    if (!this.#hasEnded && this.#child.connected) this.#child.disconnect()
    await this.#ended
  }

  #take(message: ChildMessage): void {
    if ('watch' in message) {
      this.#listeners.get(message.watch)?.(message.event)
      return
    }
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if ('failure' in message) pending?.reject(toError(message.failure))
    else pending?.resolve(message.result)
  }

  #onEnd(): void {
    this.#hasEnded = true
    for (const { reject } of this.#pending.values()) reject(new Error('the process has ended'))
    this.#pending.clear()
  }
}

function toError({ message, code, applied, details }: ChildFailure): Error {
  return code === undefined ? new Error(message) : createError(code, message, { applied, details })
}
