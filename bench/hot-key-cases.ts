import { drainHotKey, runHotKey } from './hot-key-workers.ts'
import type { Locker, Lockers } from './contestants/locker.ts'
import type { Contestant, Dose, Scenario } from './scenario.ts'

export const AGAIN = '32, again and again'
const AGAIN_WAITERS = 32

export function nameOnceCase({ drainedWaiters }: Dose): string {
  return `${drainedWaiters}, once each`
}

/** As many as there are at most: those who wait, and the holder who is there before them. */
export function countWorkers({ drainedWaiters }: Dose): number {
  return Math.max(drainedWaiters, AGAIN_WAITERS) + 1
}

export function createHotKeyContestants(lockers: Lockers, dose: Dose): Scenario['contestants'] {
  return Object.fromEntries(
    Object.entries(lockers).map(([name, openLocker]) => [name, () => open(openLocker, dose)]),
  )
}

async function open(openLocker: () => Promise<Locker>, dose: Dose): Promise<Contestant> {
  const locker = await openLocker()
  return {
    measure: (caseName, durationMs) =>
      caseName === AGAIN
        ? runHotKey(locker, { waiters: AGAIN_WAITERS, durationMs })
        : drainHotKey(locker, { waiters: dose.drainedWaiters, durationMs }),
    close: () => locker.close(),
  }
}
