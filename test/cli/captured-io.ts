import type { CliIo, CliSignal, CliStream } from '../../src/cli/cli-io.ts'

export interface CapturedOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The width of the terminal; without it there is none. */
  readonly columns?: number
}

/** A stream that remembers. */
class CapturedStream implements CliStream {
  readonly columns: number | undefined
  text = ''

  constructor(columns: number | undefined) {
    this.columns = columns
  }

  get isTTY(): boolean {
    return this.columns !== undefined
  }

  write(text: string): void {
    this.text += text
  }
}

/** What a command sees of its process, in a test that has no process for it. */
export class CapturedIo implements CliIo {
  readonly stdout: CapturedStream
  readonly stderr: CapturedStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly #listeners = new Map<CliSignal, (signal: CliSignal) => void>()

  constructor({ env = {}, columns }: CapturedOptions = {}) {
    this.stdout = new CapturedStream(columns)
    this.stderr = new CapturedStream(columns)
    this.env = env
  }

  get lines(): string[] {
    return this.stdout.text.split('\n').slice(0, -1)
  }

  onSignals(signals: readonly CliSignal[], listener: (signal: CliSignal) => void): () => void {
    for (const signal of signals) this.#listeners.set(signal, listener)
    return () => this.#listeners.clear()
  }

  raise(signal: CliSignal): void {
    this.#listeners.get(signal)?.(signal)
  }
}
