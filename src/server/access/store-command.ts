import type { Command } from '../../law/model/commands.ts'
import type { PrincipalView } from './principal-view.ts'

/** A command with the names that the engine knows its principal by. */
export function storeCommand(view: PrincipalView, command: Command): Command {
  switch (command.kind) {
    case 'acquire': {
      const { session, party } = command
      return {
        ...command,
        owner: view.toStored(command.owner),
        ...(session === undefined ? {} : { session: view.toStored(session) }),
        ...(party === undefined ? {} : { party: view.toStored(party) }),
      }
    }
    case 'release':
    case 'renew':
    case 'cancel':
      return { ...command, owner: view.toStored(command.owner) }
    case 'begin': {
      const { session } = command
      return {
        ...command,
        node: view.toStored(command.node),
        ...(session === undefined ? {} : { session: view.toStored(session) }),
      }
    }
    case 'finish':
    case 'withdraw':
    case 'unref':
      return { ...command, node: view.toStored(command.node) }
    case 'open-session':
    case 'touch-session':
    case 'close-session':
      return { ...command, session: view.toStored(command.session) }
    case 'force': {
      const { owner, namespace } = command
      if (owner === undefined) return command
      return { ...command, owner: view.toStoredAnyOwner(owner, namespace) }
    }
    case 'sweep':
      return command
  }
}
