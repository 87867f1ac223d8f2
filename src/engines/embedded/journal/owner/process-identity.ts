import { readFile } from 'node:fs/promises'

/**
 * Which process this is, so that it can be told later from another one that was given the same pid.
 * Where the system does not show when a process started, the fields are `unknown` and the pid alone
 * has to do.
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks between the start of the system and that of the process. */
  readonly startedAt: string
  /** Changes with every start of the system. */
  readonly boot: string
}

const UNKNOWN = 'unknown'

/** Fields 3 and 22 of `/proc/PID/stat`, counted from the end of the name, which may hold anything. */
const STATE_INDEX = 0
const START_INDEX = 19

export async function currentProcess(): Promise<ProcessIdentity> {
  const status = await readStatus(process.pid)
  return { pid: process.pid, startedAt: status?.startedAt ?? UNKNOWN, boot: await currentBoot() }
}

/**
 * Whether that very process is still running. Says yes in doubt. A process of another container
 * cannot be seen by its pid, and counts as gone.
 */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const { pid, startedAt, boot } = identity
  if (differ(boot, await currentBoot())) return false
  if (!isPidTaken(pid)) return false
  const status = await readStatus(pid)
  if (status === null) return true
  return !status.isDead && !differ(startedAt, status.startedAt)
}

function differ(one: string, other: string): boolean {
  return one !== UNKNOWN && other !== UNKNOWN && one !== other
}

function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user may not be signalled, but it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function currentBoot(): Promise<string> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => UNKNOWN)
  return text.trim()
}

interface ProcessStatus {
  readonly startedAt: string
  /** Killed, though its parent has not taken notice yet. */
  readonly isDead: boolean
}

async function readStatus(pid: number): Promise<ProcessStatus | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startedAt = fields[START_INDEX]
  if (startedAt === undefined) return null
  return { startedAt, isDead: ['Z', 'X'].includes(fields[STATE_INDEX] ?? '') }
}
