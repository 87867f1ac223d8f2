import { FrameBuilder } from './frame-builder.ts'
import type { LogFile } from './log-file.ts'

/** Records that are written and synced together, and the one promise that all of them share. */
export class Batch {
  readonly log: LogFile
  readonly frame: FrameBuilder
  readonly settled: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void

  constructor(log: LogFile, number: number, buffer: Buffer) {
    this.log = log
    this.frame = new FrameBuilder({ number, salt: log.salt, buffer })
    let resolve!: () => void
    let reject!: (error: Error) => void
    this.settled = new Promise((onResolve, onReject) => {
      resolve = onResolve
      reject = onReject
    })
    this.resolve = resolve
    this.reject = reject
    // Whoever appends a record may not wait for it; that must not end the process.
    this.settled.catch(() => {})
  }
}
