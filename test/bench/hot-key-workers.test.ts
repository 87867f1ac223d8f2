import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { drainHotKey, runHotKey } from '../../bench/hot-key-workers.ts'
import type { Locker } from '../../bench/contestants/locker.ts'
import { createAsyncMutexLocker } from '../../bench/lockers/async-mutex-locker.ts'

/** Gives the key to whoever happens to ask while it is free, as those do who poll. */
function createPollingLocker(): Locker {
  let isHeld = false
  return {
    async cycle(_key, run) {
      while (isHeld) await setImmediate()
      isHeld = true
      await run()
      isHeld = false
    },
    close: async () => {},
  }
}

describe('workers who want one key', () => {
  it('are all served in turn by a fair lock', async () => {
    const sample = await runHotKey(createAsyncMutexLocker(), { waiters: 4, durationMs: 20 })
    expect(sample.operations).toBeGreaterThan(4)
    expect(sample.counts).toMatchObject({ overtakes: 0, starved: 0 })
    expect(sample.counts['busiestPercent']).toBeCloseTo(25, 0)
  })

  it('are overtaken by the one who gave it back, where they poll', async () => {
    const sample = await runHotKey(createPollingLocker(), { waiters: 4, durationMs: 20 })
    const { overtakes = 0, busiestPercent = 0 } = sample.counts
    expect(overtakes).toBeGreaterThan(0)
    expect(busiestPercent).toBeGreaterThan(50)
    expect(sample.operations).toBeLessThan(overtakes)
  })

  it('are counted once each where they come once each', async () => {
    const sample = await drainHotKey(createAsyncMutexLocker(), { waiters: 8, durationMs: 5 })
    expect(sample.operations % 8).toBe(0)
    const { drainMs = 0, overtakes, starved } = sample.counts
    expect(drainMs).toBeCloseTo((sample.wallMs * 8) / sample.operations)
    expect({ overtakes, starved }).toEqual({ overtakes: 0, starved: 0 })
  })
})
