import type { CycleOptions } from './cycle-workers.ts'
import type { Locker } from './contestants/locker.ts'
import { RoundTimer } from './round-timer.ts'
import type { Sample } from './scenario.ts'

const doNothing = async (): Promise<void> => {}

/** As `runCycles`, and times every cycle; a cycle over the network is long enough to be looked at. */
export async function runTimedCycles(locker: Locker, options: CycleOptions): Promise<Sample> {
  const { keys, concurrency, durationMs } = options
  const serverStartMs = locker.serverCpuMs?.()
  const timer = new RoundTimer(durationMs)
  const durationsMs: number[] = []
  const work = async (first: number): Promise<void> => {
    let index = first
    let startedAtMs = performance.now()
    while (!timer.isOver) {
      await locker.cycle(keys[index] as string, doNothing)
      const endedAtMs = performance.now()
      durationsMs.push(endedAtMs - startedAtMs)
      startedAtMs = endedAtMs
      timer.operations += 1
      timer.look()
      index += concurrency
      if (index >= keys.length) index = first
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, first) => work(first)))
  const sample = timer.stop()
  const sorted = durationsMs.sort((one, other) => one - other)
  const counts: Record<string, number> = {
    p50Us: toUs(pickQuantile(sorted, 0.5)),
    p99Us: toUs(pickQuantile(sorted, 0.99)),
  }
  const serverCpuMs = (locker.serverCpuMs?.() ?? Number.NaN) - (serverStartMs ?? Number.NaN)
  if (Number.isFinite(serverCpuMs)) counts['serverCpuUs'] = toUs(serverCpuMs) / sample.operations
  return { ...sample, counts }
}

/** The value below which this share of the values lies; they are sorted. */
export function pickQuantile(sorted: readonly number[], share: number): number {
  const index = Math.ceil(sorted.length * share) - 1
  return sorted[Math.max(0, index)] ?? Number.NaN
}

function toUs(durationMs: number): number {
  return durationMs * 1000
}
