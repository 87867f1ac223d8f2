import { constants } from 'node:os'
import type { CliIo, CliSignal, CliStream } from './cli-io.ts'

const BROKEN_PIPE = 128 + constants.signals.SIGPIPE

/** The streams, environment and signals of this process. */
export function createProcessIo(): CliIo {
  return {
    stdout: toStream(process.stdout),
    stderr: toStream(process.stderr),
    env: process.env,
    onSignals: listenToSignals,
  }
}

function toStream(stream: NodeJS.WriteStream): CliStream {
  // The reader of the output, `head` for example, has seen enough.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? BROKEN_PIPE : 1)
  })
  return {
    write: (text) => void stream.write(text),
    get isTTY() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.isTTY === true ? stream.columns : undefined
    },
  }
}

function listenToSignals(
  signals: readonly CliSignal[],
  listener: (signal: CliSignal) => void,
): () => void {
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}
