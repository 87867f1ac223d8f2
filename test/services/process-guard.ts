import { type ChildProcess, spawn } from 'node:child_process'

/**
 * A shell that sleeps in `read` until its standard input ends, which happens when this process does,
 * however it ends: `process.on('exit')` would not run after a SIGKILL. It then ends the server by its
 * process id, at first politely, and removes the directory; a zombie, which nobody may be there to reap,
 * has ended. Two words arrive before that in an ordinary life: `ended` when the server is gone, since
 * its id may belong to somebody else by then, and `done`.
 */
const SCRIPT = `
pid=$1 signal=$2 directory=$3
while read -r word; do
  case $word in
    ended) pid= ;;
    done) exit 0 ;;
  esac
done
if [ -n "$pid" ]; then
  kill -s "$signal" "$pid"
  kill -s CONT "$pid"
  tries=0
  while kill -0 "$pid" && ! grep -q '^State:.Z' "/proc/$pid/status" && [ $tries -lt 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill -s KILL "$pid"
fi
rm -rf "$directory"
`

export interface GuardedProcess {
  readonly pid: number
  readonly signal: NodeJS.Signals
  readonly directory: string
}

/** Sees to it that a process and its directory do not outlive this process. */
export class ProcessGuard {
  readonly #shell: ChildProcess

  constructor({ pid, signal, directory }: GuardedProcess) {
    const args = [String(pid), signal.replace('SIG', ''), directory]
    // In a group of its own, so that an interrupt at the keyboard does not end it first.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'guard', ...args], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#shell.stdin?.on('error', () => {})
    this.#shell.unref()
  }

  /** The process has ended; only the directory is left to look after. */
  processEnded(): void {
    this.#shell.stdin?.write('ended\n')
  }

  dismiss(): void {
    this.#shell.stdin?.end('done\n')
  }
}
