/**
 * What `holdfast run` and the process that looks after its command say to each other.
 *
 * Instants are milliseconds on the machine's monotonic clock (`process.hrtime`), which both processes
 * see alike, also when the time of day is set.
 */
export type RunnerMessage =
  | {
      readonly kind: 'start'
      readonly command: readonly string[]
      /** Added to the environment. */
      readonly env: Readonly<Record<string, string>>
      readonly deadlineAtMs: number
      /** How long what the command leaves behind has between SIGTERM and SIGKILL. */
      readonly graceMs: number
    }
  /** The lock is sure until then; what still runs at that moment is killed. */
  | { readonly kind: 'deadline'; readonly atMs: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  /** SIGTERM now, SIGKILL then. */
  | { readonly kind: 'stop'; readonly killAtMs: number }

export type SupervisorMessage =
  | { readonly kind: 'started'; readonly pid: number }
  /** There was nothing to start. */
  | { readonly kind: 'failed'; readonly code: string }
  /** The command has ended, and so has everything in its group. */
  | {
      readonly kind: 'ended'
      readonly code: number | null
      readonly signal: NodeJS.Signals | null
      /** Whether the deadline came first. */
      readonly overdue: boolean
    }

/** Now, on the clock of those messages. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
