import type { WaitingCommand } from '../../engine/waits/waiting-command.ts'

/** Asking again extends a wait, so only what is left of it is asked for; it stays a wait to the end. */
export function withWaitLeft(command: WaitingCommand, waitedMs: number): WaitingCommand {
  return { ...command, waitMs: Math.max(1, Math.ceil((command.waitMs ?? 0) - waitedMs)) }
}
