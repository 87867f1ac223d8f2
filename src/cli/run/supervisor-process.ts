/**
 * The process between `holdfast run` and its command. It starts the command in a group of its own and
 * sees to it that the group never outlives the certainty of the lock:
 *
 * - it kills the group at the latest deadline that the runner told, also if the runner is frozen;
 * - it kills the group when the runner is gone, however it went: the channel closes then;
 * - when the command has ended it ends what is left of the group, and only then says so.
 *
 * It is in a session of its own, so that a terminal's signals reach the runner alone, which passes them
 * on once.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { ProcessGroup } from './process-group.ts'
import { monotonicMs, type RunnerMessage, type SupervisorMessage } from './supervisor-messages.ts'

const POLL_MS = 10
/** How long a killed group may take to vanish before it is reported gone all the same. */
const VANISH_MS = 1_000

let group: ProcessGroup | undefined
let killing: NodeJS.Timeout | undefined
let killAtMs = Number.POSITIVE_INFINITY
let isStopping = false
let isOverdue = false

function say(message: SupervisorMessage): void {
  if (process.connected) process.send?.(message)
}

/** Kill the group at an instant. Once it is being stopped, that moment only comes closer. */
function killAt(atMs: number): void {
  if (isStopping && atMs > killAtMs) return
  killAtMs = atMs
  clearTimeout(killing)
  killing = setTimeout(kill, Math.max(0, atMs - monotonicMs()))
}

function kill(): void {
  isOverdue = !isStopping
  group?.signal('SIGKILL')
}

function start({ command, env, deadlineAtMs, graceMs }: RunnerMessage & { kind: 'start' }): void {
  let child: ChildProcess
  try {
    child = spawnCommand(command, env)
  } catch (error) {
    return fail(error as NodeJS.ErrnoException)
  }
  child.once('error', fail)
  if (child.pid === undefined) return
  group = new ProcessGroup(child.pid)
  killAt(deadlineAtMs)
  say({ kind: 'started', pid: child.pid })
  void settle(child, group, graceMs)
}

/** Some reasons why a command cannot be started are thrown, the others are told as an event. */
function spawnCommand(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn(program, args, {
    detached: true,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
}

function fail({ code = 'unknown' }: NodeJS.ErrnoException): void {
  say({ kind: 'failed', code })
}

/** The group ends with its leader. */
async function settle(child: ChildProcess, members: ProcessGroup, graceMs: number): Promise<void> {
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('exit', (...how) => resolve(how))
  })
  if (members.isAlive()) {
    members.signal('SIGTERM')
    // One that is stopped would not hear it.
    members.signal('SIGCONT')
    await untilGone(members, Math.min(killAtMs, monotonicMs() + graceMs))
    members.signal('SIGKILL')
    await untilGone(members, monotonicMs() + VANISH_MS)
  }
  clearTimeout(killing)
  // Its number may belong to another process from now on.
  group = undefined
  say({ kind: 'ended', code, signal, overdue: isOverdue })
}

async function untilGone(members: ProcessGroup, untilMs: number): Promise<void> {
  while (members.isAlive() && monotonicMs() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

function take(message: RunnerMessage): void {
  switch (message.kind) {
    case 'start':
      return start(message)
    case 'deadline':
      return killAt(message.atMs)
    case 'signal':
      group?.signal(message.signal)
      return
    case 'stop':
      group?.signal('SIGTERM')
      group?.signal('SIGCONT')
      killAt(message.killAtMs)
      isStopping = true
  }
}

// These are meant for the command, and the runner decides about that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGTSTP'] as const) {
  process.on(signal, () => {})
}
process.on('message', take)
process.on('disconnect', leave)
// It may have gone while this was being loaded; then no message will say so.
if (!process.connected) leave()

function leave(): void {
  group?.signal('SIGKILL')
  process.exit()
}
