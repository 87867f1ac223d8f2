import type { Locks } from '../../locks/locks.ts'
import { Latencies } from './latencies.ts'

/** One measurement: what it does, in words for people, and how many take part. */
export interface BenchPart {
  readonly name: string
  readonly does: string
  readonly workers: number
  /** Whether all want the same key. */
  readonly contended: boolean
}

export const BENCH_PARTS: readonly BenchPart[] = [
  {
    name: 'alone',
    does: 'one worker acquires and releases keys of its own',
    workers: 1,
    contended: false,
  },
  {
    name: 'side by side',
    does: '64 workers acquire and release keys of their own',
    workers: 64,
    contended: false,
  },
  {
    name: 'hot key',
    does: '32 workers pass one key on to each other',
    workers: 32,
    contended: true,
  },
]

export interface BenchResult {
  readonly name: string
  readonly workers: number
  readonly cycles: number
  readonly seconds: number
  readonly perSecond: number
  /** From asking to having: 50 %, 99 %, and the longest. */
  readonly waitMs: readonly [median: number, p99: number, max: number]
}

export interface BenchOptions {
  readonly durationMs: number
  /** In front of every key, so that no other key is touched. */
  readonly prefix: string
  readonly signal: AbortSignal
}

/** Acquire and release for a while, and count. */
export async function measurePart(
  locks: Locks,
  part: BenchPart,
  options: BenchOptions,
): Promise<BenchResult> {
  const { durationMs, prefix, signal } = options
  const latencies = new Latencies()
  const startedAtMs = performance.now()
  const untilMs = startedAtMs + durationMs
  const work = async (worker: number): Promise<void> => {
    const key = `${prefix}${part.contended ? 'hot' : worker}`
    while (performance.now() < untilMs && !signal.aborted) {
      const askedAtMs = performance.now()
      const lock = await locks.acquire(key, { ttl: '30s', wait: '1m' })
      latencies.add(performance.now() - askedAtMs)
      await lock.release()
    }
  }
  await Promise.all(Array.from({ length: part.workers }, (_, worker) => work(worker)))
  const seconds = (performance.now() - startedAtMs) / 1_000
  const [median = 0, p99 = 0, max = 0] = latencies.quantilesMs([0.5, 0.99, 1])
  return {
    name: part.name,
    workers: part.workers,
    cycles: latencies.count,
    seconds,
    perSecond: latencies.count / seconds,
    waitMs: [median, p99, max],
  }
}
