import { SystemClock } from '../../../time/system-clock.ts'

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

/** Opening and making the tables are done in far less; whoever is in the way longer has stopped. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 10

/** Somebody else has the file for a moment. */
export function isBusy(error: unknown): boolean {
  const { errcode, message = '' } = error as { errcode?: number; message?: string }
  const code = typeof errcode === 'number' ? errcode & 0xff : undefined
  return code === SQLITE_BUSY || code === SQLITE_LOCKED || /database is locked/.test(message)
}

/** SQLite's own patience would stop the whole process, and not everything asks for it. */
export async function whenFree(action: () => unknown): Promise<void> {
  const clock = new SystemClock()
  const startedAtMs = clock.nowMs()
  for (;;) {
    try {
      await action()
      return
    } catch (error) {
      if (!isBusy(error) || clock.nowMs() - startedAtMs > PATIENCE_MS) throw error
    }
    await new Promise<void>((resolve) => {
      clock.setTimer(PAUSE_MS, resolve).ref()
    })
  }
}
