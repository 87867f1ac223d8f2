import { hostname } from 'node:os'
import { basename } from 'node:path'
import { isLockError } from '../../engine/errors/errors.ts'
import type { LockHandle } from '../../locks/lease/lock-handle.ts'
import type { Locks } from '../../locks/locks.ts'
import { escapeControls } from '../../server/observe/escape-controls.ts'
import type { CliIo, CliSignal } from '../cli-io.ts'
import { closeLocks, openLocks, serverOf } from '../connection-options.ts'
import { EXIT_CODES, exitCodeOfError, exitCodeOfSignal } from '../exit-codes.ts'
import { choosePaint } from '../output/paint.ts'
import { LockKeeper } from './lock-keeper.ts'
import type { RunTerms } from './run-terms.ts'
import { type CommandEnd, Supervisor } from './supervisor.ts'
import { tellOfLosses } from './tell-of-losses.ts'

/** Ended by one of these while it waits, and passed on while the command runs. */
const ENDING: readonly CliSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
const PASSED_ON: readonly CliSignal[] = ['SIGUSR2', 'SIGWINCH']

/** How long a release that is not answered may hold up the end of a run. */
const RELEASE_MS_MAX = 5_000
/** The same for giving up a place in the queue, and for releasing what is lost anyway. */
const END_MS_MAX = 1_500

/** One `holdfast run`, from the wait to the release. */
export class RunUnderLock {
  readonly #terms: RunTerms
  readonly #io: CliIo
  readonly #giveUp = new AbortController()
  #supervisor: Supervisor | undefined
  #isRunning = false
  #endedBy: CliSignal | undefined
  #wasLost = false
  /** Resolves to the exit code if a server that does not answer holds up the end. */
  readonly #isOverdue: Promise<number>
  #resolveOverdue: (code: number) => void = () => {}
  #overdue: NodeJS.Timeout | undefined

  constructor(terms: RunTerms, io: CliIo) {
    this.#terms = terms
    this.#io = io
    this.#isOverdue = new Promise((resolve) => {
      this.#resolveOverdue = resolve
    })
  }

  /** Resolves to the exit code. */
  async run(): Promise<number> {
    const listened = [...ENDING, ...PASSED_ON, 'SIGTSTP' as const]
    const unlisten = this.#io.onSignals(listened, (signal) => this.#onSignal(signal))
    this.#supervisor = new Supervisor(this.#io.env)
    try {
      return await Promise.race([this.#connectAndRun(this.#supervisor), this.#isOverdue])
    } finally {
      clearTimeout(this.#overdue)
      this.#supervisor.close()
      unlisten()
    }
  }

  async #connectAndRun(supervisor: Supervisor): Promise<number> {
    const { connection, owner } = this.#terms
    const locks = await openLocks(connection, this.#io, { owner })
    try {
      return await this.#runWith(locks, supervisor)
    } finally {
      await closeLocks(locks)
    }
  }

  async #runWith(locks: Locks, supervisor: Supervisor): Promise<number> {
    const { key, acquire, command } = this.#terms
    const meta = { host: hostname(), pid: process.pid, command: basename(command[0] ?? '') }
    const options = { ...acquire, meta, signal: this.#giveUp.signal }
    try {
      const end = await locks.withLock(key, options, (lock) => this.#hold(locks, lock, supervisor))
      return end === undefined ? this.#exitCodeOfEndedWait() : this.#exitCodeOf(end)
    } catch (error) {
      if (isLockError(error, 'LOCK_LOST')) {
        this.#say(error.message)
        return EXIT_CODES.lost.code
      }
      return this.#exitCodeOfRefusal(error)
    }
  }

  /** The lock is held. `undefined` if a signal came before anything was started. */
  async #hold(
    locks: Locks,
    lock: LockHandle,
    supervisor: Supervisor,
  ): Promise<CommandEnd | undefined> {
    if (this.#endedBy !== undefined) return undefined
    const keeper = new LockKeeper({
      lock,
      graceMs: this.#terms.graceMs,
      onDeadline: (atMs) => supervisor.extend(atMs),
      onLoss: (killAtMs) => this.#onLoss(lock, supervisor, killAtMs),
    })
    const stopTelling = tellOfLosses(locks, lock)
    try {
      // Lost before anything was started: the caller sees to it.
      if (this.#wasLost) return undefined
      this.#isRunning = true
      const end = await supervisor.start({
        command: this.#terms.command,
        env: this.#describeLock(lock),
        deadlineAtMs: keeper.deadlineAtMs,
        graceMs: this.#terms.graceMs,
      })
      this.#limitRelease(end)
      return end
    } finally {
      keeper.close()
      stopTelling()
    }
  }

  /** A server that is away is not waited for: the lease ends by itself. */
  #limitRelease(end: CommandEnd): void {
    this.#endLatestIn(this.#wasLost ? END_MS_MAX : RELEASE_MS_MAX, () => {
      if (!this.#wasLost) this.#say('the lock could not be released; its lease ends by itself')
      return this.#exitCodeOf(end)
    })
  }

  #endLatestIn(limitMs: number, conclude: () => number): void {
    clearTimeout(this.#overdue)
    this.#overdue = setTimeout(() => this.#resolveOverdue(conclude()), limitMs)
  }

  #describeLock({ key, owner, token }: LockHandle): Record<string, string> {
    return {
      HOLDFAST_KEY: key,
      HOLDFAST_OWNER: owner,
      HOLDFAST_TOKEN: String(token),
      HOLDFAST_SERVER: serverOf(this.#terms.connection, this.#io),
    }
  }

  #onLoss(lock: LockHandle, supervisor: Supervisor, killAtMs: number): void {
    this.#wasLost = true
    if (lock.isHeld) {
      this.#say(`${lock.key} could not be confirmed in time; stopping the command`)
      supervisor.stop(killAtMs)
      return
    }
    // Another owner may have it already.
    supervisor.stop(killAtMs)
    supervisor.kill()
  }

  #onSignal(signal: CliSignal): void {
    if (signal === 'SIGTSTP') {
      this.#say('not suspended: the lock would run out while the command waits')
      return
    }
    if (this.#isRunning) {
      this.#supervisor?.signal(signal)
      return
    }
    if (!ENDING.includes(signal)) return
    this.#endedBy ??= signal
    this.#giveUp.abort()
    this.#endLatestIn(END_MS_MAX, () => exitCodeOfSignal(signal))
  }

  #exitCodeOf(end: CommandEnd): number {
    if (this.#wasLost) return EXIT_CODES.lost.code
    switch (end.kind) {
      case 'exited':
        return end.code
      case 'killed':
        return end.overdue ? EXIT_CODES.lost.code : exitCodeOfSignal(end.signal)
      case 'not-started':
        return this.#exitCodeOfNoStart(end.code)
      case 'unsupervised':
        this.#say('the process that looked after the command is gone; the command was killed')
        return EXIT_CODES.internal.code
    }
  }

  #exitCodeOfNoStart(code: string): number {
    const program = this.#terms.command[0] ?? ''
    if (code === 'ENOENT') {
      this.#say(`${program}: command not found`)
      return EXIT_CODES.notFound.code
    }
    this.#say(`${program}: cannot be executed (${code})`)
    return EXIT_CODES.cannotRun.code
  }

  #exitCodeOfEndedWait(): number {
    return this.#endedBy === undefined ? EXIT_CODES.ok.code : exitCodeOfSignal(this.#endedBy)
  }

  #exitCodeOfRefusal(error: unknown): number {
    if (this.#endedBy !== undefined && isLockError(error, 'LOCK_ABORTED')) {
      return exitCodeOfSignal(this.#endedBy)
    }
    const code = exitCodeOfError(error)
    if (code !== EXIT_CODES.failed.code || !isLockError(error)) throw error
    this.#say(error.message)
    return EXIT_CODES.notAcquired.code
  }

  #say(text: string): void {
    const paint = choosePaint(this.#io, this.#io.stderr)
    this.#io.stderr.write(`${paint('holdfast:', 'red')} ${escapeControls(text)}\n`)
  }
}
