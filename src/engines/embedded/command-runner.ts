import { unreachable } from '../../law/assert.ts'
import type { Command, SessionCommand, Unref } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import { decideSession } from '../../law/sessions.ts'
import type { Durability } from './durability.ts'
import { type ExpiryHandler, expireDue } from './expiry.ts'
import type { LockTable } from './table/lock-table.ts'
import type { TableStore } from './table-store.ts'

export interface CommandRunnerParts {
  readonly table: LockTable
  readonly durability: Durability
  readonly store: TableStore | undefined
}

/** Brings each command to the keys it is about: one, those of a session, those of a node. */
export class CommandRunner {
  readonly #parts: CommandRunnerParts
  readonly #handler: ExpiryHandler

  constructor(parts: CommandRunnerParts) {
    this.#parts = parts
    this.#handler = {
      sessionEnded: (id) => this.#forgetSession(id),
    }
  }

  run(command: Command, nowMs: number): Outcome {
    const expired = this.expire(nowMs)
    const { table } = this.#parts
    switch (command.kind) {
      case 'acquire':
      case 'release':
      case 'renew':
      case 'cancel':
        return table.decide(table.lock(command.key), command, nowMs)
      case 'begin':
      case 'finish':
      case 'withdraw': {
        const { resource } = command
        return table.decide(table.resource(resource), command, nowMs)
      }
      case 'force': {
        const isOperation = command.namespace === 'operation'
        const state = isOperation ? table.resource(command.key) : table.lock(command.key)
        return table.decide(state, command, nowMs)
      }
      case 'unref':
        return this.#unref(command, nowMs)
      case 'open-session':
      case 'touch-session':
      case 'close-session':
        return this.#session(command, nowMs)
      case 'sweep':
        return { kind: 'swept', count: expired }
      default:
        return unreachable(command)
    }
  }

  /** End what is due. */
  expire(nowMs: number): number {
    return expireDue(this.#parts.table, this.#handler, nowMs)
  }

  #unref(command: Unref, nowMs: number): Outcome {
    const { table } = this.#parts
    if (command.resource !== undefined) {
      const state = table.resource(command.resource)
      return table.decide(state, command, nowMs)
    }
    let removed = 0
    for (const state of [...(table.nodes.get(command.node) ?? [])]) {
      const outcome = table.decide(state, command, nowMs)
      if (outcome.kind === 'unreferenced') removed += outcome.removed
    }
    return { kind: 'unreferenced', removed, count: 0 }
  }

  #session(command: SessionCommand, nowMs: number): Outcome {
    const { table, durability, store } = this.#parts
    const known = table.sessions.get(command.session)
    const { session, outcome } = decideSession(known, command, nowMs)
    if (session === null) {
      const ended = table.endSession(command.session, nowMs)
      this.#forgetSession(command.session)
      return { kind: 'session-closed', ended }
    }
    if (session !== undefined) {
      table.setSession(session)
      // Hearing from a client is not written: after a restart every session has its full grace.
      const isNew = command.kind === 'open-session'
      if (isNew && store !== undefined) durability.append(store.recordOfSession(session))
    }
    return outcome
  }

  #forgetSession(id: string): void {
    const { durability, store } = this.#parts
    if (store !== undefined) durability.append(store.recordOfSessionEnd(id))
  }
}
