import { describe, expect, it } from 'vitest'
import { createAsyncMutexLocker } from '../../bench/lockers/async-mutex-locker.ts'
import { pickQuantile, runTimedCycles } from '../../bench/timed-cycles.ts'

describe('a quantile', () => {
  it.each([
    [0.5, 2],
    [0.75, 3],
    [0.99, 4],
    [0.01, 1],
  ])('of four values at %f is one of them', (share, value) => {
    expect(pickQuantile([1, 2, 3, 4], share)).toBe(value)
  })

  it('of nothing is not a number', () => {
    expect(pickQuantile([], 0.5)).toBeNaN()
  })
})

it('timed cycles use keys that no other worker has, and know how long they took', async () => {
  const locker = createAsyncMutexLocker()
  const keys = ['a', 'b', 'c', 'd', 'e']
  const held = new Set<string>()
  const used = new Set<string>()
  const watched = {
    close: locker.close,
    cycle: (key: string, run: () => Promise<void>) => {
      expect(held.has(key)).toBe(false)
      held.add(key)
      used.add(key)
      return locker.cycle(key, run).finally(() => held.delete(key))
    },
  }
  const sample = await runTimedCycles(watched, { keys, concurrency: 2, durationMs: 300 })
  expect([...used].sort()).toEqual(keys)
  expect(sample.operations).toBeGreaterThan(0)
  const { p50Us = 0, p99Us = 0 } = sample.counts
  expect(p50Us).toBeGreaterThan(0)
  expect(p99Us).toBeGreaterThanOrEqual(p50Us)
})
