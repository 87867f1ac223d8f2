import { readdirSync, readFileSync } from 'node:fs'

/** The processes that a command started and that did not leave for a session of their own. */
export class ProcessGroup {
  readonly #id: number

  /** `id` is the process id of the leader. */
  constructor(id: number) {
    this.#id = id
  }

  /** Returns false if the group has no process left. */
  signal(signal: NodeJS.Signals): boolean {
    return send(-this.#id, signal)
  }

  /** Whether a member is there that can still do something. */
  isAlive(): boolean {
    if (!send(-this.#id, 0)) return false
    // Where no process collects the dead, as in many containers, they still count as members.
    return process.platform === 'linux' ? hasLiveMember(this.#id) : true
  }
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    // EPERM: there are members, and they belong to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function hasLiveMember(group: number): boolean {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return true
  }
  return names.some((name) => /^\d+$/.test(name) && isLiveMember(name, group))
}

/** From `pid (name) state parent group …`; a name may hold spaces and brackets. */
function isLiveMember(pid: string, group: number): boolean {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return false
  }
  const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(itsGroup) === group && state !== 'Z' && state !== 'X'
}
