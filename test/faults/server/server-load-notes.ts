import { isLockError } from '../../../src/engine/errors/errors.ts'
import type { Command } from '../../../src/law/model/commands.ts'
import type { LoadReport } from './server-messages.ts'

/** What the clients of one process have noticed beside their answers. */
export class LoadNotes {
  readonly #unavailable: Record<string, number> = {}
  readonly #problems: string[] = []
  #losses = 0

  /** A command failed instead of being answered. */
  failed(command: Command, error: unknown): void {
    if (isLockError(error, 'LOCK_ABORTED')) return
    if (!isLockError(error, 'LOCK_ENGINE_UNAVAILABLE')) {
      this.problem(`${JSON.stringify(command)}: ${String(error)}`)
      return
    }
    const isNamed = 'requestId' in command && command.requestId !== undefined
    const name = `${command.kind}${isNamed ? ' with an id' : ''}, applied: ${error.applied}`
    this.#unavailable[name] = (this.#unavailable[name] ?? 0) + 1
  }

  problem(what: string): void {
    this.#problems.push(what)
  }

  lost(): void {
    this.#losses += 1
  }

  report(): Omit<LoadReport, 'served'> {
    return { unavailable: this.#unavailable, losses: this.#losses, problems: this.#problems }
  }
}
