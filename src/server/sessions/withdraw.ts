import type { LockEngine } from '../../engine/engine.ts'
import type { CancelReason, Command } from '../../law/model/commands.ts'
import { toWithdrawal, type WaitingCommand } from '../../engine/waits/waiting-command.ts'

/** Leaves the queue, and undoes a grant that nobody heard of. Never rejects. */
export async function withdraw(
  engine: LockEngine,
  command: WaitingCommand,
  reason: CancelReason,
): Promise<void> {
  try {
    await engine.apply<Command>(toWithdrawal(command, reason))
  } catch {
    // The engine is failing or closed: the lease of the waiter or of the grant ends it.
  }
}
