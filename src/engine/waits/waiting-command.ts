import type { Acquire, Begin, Cancel, CancelReason } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Namespace } from '../../law/model/view.ts'

/** What can wait in a queue. */
export type WaitingCommand = Acquire | Begin

/** Whether a command, if it is queued, stays open until it is settled. */
export function isHeldOpen(command: { readonly kind: string }): command is WaitingCommand {
  if (command.kind !== 'acquire' && command.kind !== 'begin') return false
  const { waitMs = 0, detach = false } = command as Partial<Acquire>
  return waitMs > 0 && !detach
}

/**
 * The one way to undo a request: the command that gives up its place, or what it was granted. The law
 * refuses a late copy of the request afterwards, unless it goes by its owner's name.
 */
export function toCancel(command: WaitingCommand, reason?: CancelReason): Cancel {
  if (command.kind === 'acquire') {
    const { key, owner, requestId } = command
    return { kind: 'cancel', key, owner, requestId, reason }
  }
  const owner = ownerOf(command)
  const { resource: key, requestId = owner } = command
  return { kind: 'cancel', namespace: 'operation', key, owner, requestId, reason }
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
