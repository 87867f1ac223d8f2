import type { Command } from '../../law/model/commands.ts'
import type { PrincipalView } from '../access/principal-view.ts'

/**
 * The sessions of WebSockets, by the names that the engine knows. Such a session is opened, kept and closed by
 * its own connections. For other clients of its principal, who may read its id off a list, it is not there.
 */
export class SocketSessions {
  readonly #names = new Set<string>()

  add(stored: string): void {
    this.#names.add(stored)
  }

  delete(stored: string): void {
    this.#names.delete(stored)
  }

  /** `own` is the session that asks, where one does. */
  isOfAnother(session: string, view: PrincipalView, own?: string): boolean {
    return session !== own && this.#names.has(view.toStored(session))
  }

  /** The same for a command that concerns a session as a whole. */
  isForAnother(command: Command, view: PrincipalView, own?: string): boolean {
    switch (command.kind) {
      case 'open-session':
      case 'touch-session':
      case 'close-session':
        return this.isOfAnother(command.session, view, own)
      default:
        return false
    }
  }
}
