import type { CliIo } from './cli-io.ts'

/** One word after `holdfast`. */
export interface CliCommand {
  /** What `--help` shows: how it is called, what it does, its options, examples. */
  readonly help: string
  /** Resolves to the exit code. What it throws is reported by the caller. */
  run(args: readonly string[], io: CliIo): Promise<number>
}
