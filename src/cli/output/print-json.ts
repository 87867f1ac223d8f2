import type { CliIo } from '../cli-io.ts'

/** One JSON text on a line of its own, so that many of them are JSON lines. */
export function printJson(io: CliIo, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value)}\n`)
}
