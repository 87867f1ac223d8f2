import type { Locker } from './contestants/locker.ts'
import { RoundTimer } from './round-timer.ts'
import type { Sample } from './scenario.ts'

export interface CycleOptions {
  readonly keys: readonly string[]
  readonly concurrency: number
  readonly durationMs: number
}

const doNothing = async (): Promise<void> => {}

/** So many workers, each going through keys that no other worker has, one cycle after the other. */
export async function runCycles(locker: Locker, options: CycleOptions): Promise<Sample> {
  const { keys, concurrency, durationMs } = options
  const timer = new RoundTimer(durationMs)
  const work = async (first: number): Promise<void> => {
    let index = first
    while (!timer.isOver) {
      await locker.cycle(keys[index] as string, doNothing)
      timer.operations += 1
      timer.tick()
      index += concurrency
      if (index >= keys.length) index = first
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, first) => work(first)))
  return timer.stop()
}
