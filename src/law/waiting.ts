import { ownerOf } from './operations.ts'
import type { Acquire, Begin, Cancel, CancelReason, Withdraw } from './commands.ts'
import type { Granted } from './outcomes.ts'
import type { Namespace } from './view.ts'

/** What can wait in a queue. */
export type WaitingCommand = Acquire | Begin

/** Whether a command, if it is queued, stays open until it is settled. */
export function isHeldOpen(command: { readonly kind: string }): command is WaitingCommand {
  if (command.kind !== 'acquire' && command.kind !== 'begin') return false
  const { waitMs = 0, detach = false } = command as Partial<Acquire>
  return waitMs > 0 && !detach
}

/** What gives up its place, or undoes its grant if that was not taken. */
export function toWithdrawal(command: WaitingCommand, reason?: CancelReason): Cancel | Withdraw {
  if (command.kind === 'acquire') {
    const { key, owner, requestId } = command
    return { kind: 'cancel', key, owner, requestId, reason }
  }
  const { type, resource, node } = command
  return { kind: 'withdraw', type, resource, node, reason }
}

/**
 * A hold that was upgraded at once has another token. Given back, the upgrade would leave its owner with the
 * token before: so it is told even to somebody who has given up.
 */
export function isUpgraded(command: WaitingCommand, { mode, reads, writes }: Granted): boolean {
  return command.kind === 'acquire' && mode === 'write' && reads > 0 && writes === 1
}

/** The same for every asking of one request, and for no other. */
export function nameOfWait(command: WaitingCommand): string {
  if (command.kind === 'acquire') return nameOfPlace({ space: 'lock', name: command.key }, command)
  const asker = { owner: ownerOf(command), requestId: '' }
  return nameOfPlace({ space: 'operation', name: command.resource }, asker)
}

/** An operation has one place, whatever its requests are called. No name has control characters. */
export function nameOfPlace(
  { space, name }: { readonly space: Namespace; readonly name: string },
  { owner, requestId }: { readonly owner: string; readonly requestId: string },
): string {
  return space === 'operation' ? `${name}\n${owner}` : `${name}\n${owner}\n${requestId}`
}
