/** A stream that text is written to, as far as a command needs to know it. */
export interface CliStream {
  write(text: string): void
  /** Whether a person reads it on a terminal. */
  readonly isTTY: boolean
  /** The width of the terminal; absent where there is none. */
  readonly columns?: number | undefined
}

/** Signals that a command may want to hear of instead of being ended by them. */
export type CliSignal =
  | 'SIGINT'
  | 'SIGTERM'
  | 'SIGHUP'
  | 'SIGQUIT'
  | 'SIGUSR2'
  | 'SIGTSTP'
  | 'SIGWINCH'

/**
 * Everything that a command has of the process it runs in, so that a test can run one without a process
 * of its own.
 */
export interface CliIo {
  readonly stdout: CliStream
  readonly stderr: CliStream
  readonly env: Readonly<Record<string, string | undefined>>
  /**
   * Hear of these signals; they do nothing else from then on. Returns how to stop, after which they do
   * again what they do by default.
   */
  onSignals(signals: readonly CliSignal[], listener: (signal: CliSignal) => void): () => void
}
