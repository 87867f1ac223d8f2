import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ProcessGroup } from './process-group.ts'
import type { RunnerMessage, SupervisorMessage } from './supervisor-messages.ts'

/** How a command ended. */
export type CommandEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals; readonly overdue: boolean }
  | { readonly kind: 'not-started'; readonly code: string }
  /** The process that looked after it is gone; the command has been killed. */
  | { readonly kind: 'unsupervised' }

/** The sources run under a loader that knows TypeScript; what is published is compiled. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js'
const PROGRAM = fileURLToPath(new URL('./supervisor-process.ts', import.meta.url)).replace(
  /\.ts$/,
  EXTENSION,
)

/** The runner's side of the process that looks after a command; see `supervisor-process.ts`. */
export class Supervisor {
  readonly #process: ChildProcess
  readonly #ended: Promise<CommandEnd>
  #group: ProcessGroup | undefined

  /** Starts the process, so that it is ready when the lock is. */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#process = spawn(process.execPath, [...process.execArgv, PROGRAM], {
      detached: true,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...env },
    })
    this.#ended = new Promise((resolve) => {
      // Either it could not be started, or a message did not reach it because it is just ending.
      this.#process.on('error', () => {
        if (this.#process.pid === undefined) resolve({ kind: 'unsupervised' })
      })
      this.#process.on('message', (message: SupervisorMessage) => this.#take(message, resolve))
      this.#process.once('exit', () => {
        this.#group?.signal('SIGKILL')
        resolve({ kind: 'unsupervised' })
      })
    })
  }

  /** Resolves when the command and everything in its group has ended. */
  start(start: Omit<RunnerMessage & { kind: 'start' }, 'kind'>): Promise<CommandEnd> {
    this.#send({ kind: 'start', ...start })
    return this.#ended
  }

  extend(deadlineAtMs: number): void {
    this.#send({ kind: 'deadline', atMs: deadlineAtMs })
  }

  signal(signal: NodeJS.Signals): void {
    this.#send({ kind: 'signal', signal })
  }

  /** SIGTERM now and SIGKILL then. */
  stop(killAtMs: number): void {
    this.#send({ kind: 'stop', killAtMs })
  }

  /** Kill every process that runs, now, without relying on the other process. */
  kill(): void {
    this.#group?.signal('SIGKILL')
  }

  /** Nothing more is wanted of it. What still runs is killed. */
  close(): void {
    if (this.#process.connected) this.#process.disconnect()
  }

  #take(message: SupervisorMessage, resolve: (end: CommandEnd) => void): void {
    switch (message.kind) {
      case 'started':
        this.#group = new ProcessGroup(message.pid)
        return
      case 'failed':
        return resolve({ kind: 'not-started', code: message.code })
      case 'ended':
        this.#group = undefined
        resolve(toEnd(message))
    }
  }

  #send(message: RunnerMessage): void {
    if (this.#process.connected) this.#process.send(message)
  }
}

function toEnd({ code, signal, overdue }: SupervisorMessage & { kind: 'ended' }): CommandEnd {
  if (signal !== null) return { kind: 'killed', signal, overdue }
  return { kind: 'exited', code: code ?? 0 }
}
