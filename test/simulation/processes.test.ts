import { describe, expect, it } from 'vitest'
import { ProcessClock } from '../../src/testing/simulator/process-clock.ts'
import { SimulatedProcess } from '../../src/testing/simulator/simulated-process.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

function createProcess(rate = 1): {
  world: VirtualClock
  process: SimulatedProcess
  clock: ProcessClock
} {
  const world = new VirtualClock({ nowMs: 0.3 })
  const process = new SimulatedProcess('p', world)
  return { world, process, clock: new ProcessClock(world, process, { nowMs: 1_000, rate }) }
}

describe('a simulated process', () => {
  it('runs nothing while it is paused, and everything afterwards, in order', async () => {
    const { world, process, clock } = createProcess()
    const ran: string[] = []
    process.pause()
    clock.setTimer(5, () => ran.push('timer'))
    process.run(() => ran.push('message'))
    await world.advance(10)
    expect(ran).toEqual([])
    process.resume()
    process.run(() => ran.push('later message'))
    await world.advance(0)
    expect(ran).toEqual(['message', 'timer', 'later message'])
    expect(process.isUpToDate).toBe(true)
  })

  it('does not fire a timer that was cancelled while it was paused', async () => {
    const { world, process, clock } = createProcess()
    const ran: string[] = []
    const timer = clock.setTimer(5, () => ran.push('timer'))
    process.pause()
    await world.advance(10)
    process.run(() => timer.cancel())
    timer.cancel()
    process.resume()
    await world.advance(10)
    expect(ran).toEqual([])
  })

  it('runs nothing once it is dead, and leaves no timer behind', async () => {
    const { world, process, clock } = createProcess()
    const ran: string[] = []
    clock.setTimer(5, () => ran.push('timer'))
    process.onDeath(() => ran.push('death'))
    process.kill()
    process.run(() => ran.push('message'))
    clock.setTimer(5, () => ran.push('new timer'))
    process.resume()
    expect(world.pendingTimers).toBe(0)
    await world.advance(10)
    expect(ran).toEqual(['death'])
  })
})

describe('the clock of a process', () => {
  it('counts from a moment of its own, faster or slower than the world', async () => {
    const { world, clock } = createProcess(1.01)
    const startMs = clock.nowMs()
    await world.advance(1_000)
    expect(clock.nowMs() - startMs).toBeCloseTo(1_010, 6)
  })

  it.each([1, 0.991, 1.0037, 1.009])('never fires a timer early at a rate of %d', async (rate) => {
    const { world, clock } = createProcess(rate)
    for (let delayMs = 0; delayMs < 40; delayMs += 0.37) {
      const dueAtMs = clock.nowMs() + delayMs
      let firedAtMs = -1
      clock.setTimer(delayMs, () => {
        firedAtMs = clock.nowMs()
      })
      await world.runUntilIdle()
      expect(firedAtMs).toBeGreaterThanOrEqual(dueAtMs)
      expect(firedAtMs).toBeLessThan(dueAtMs + 1e-3)
    }
  })

  it('reaches a whole millisecond exactly when the rate is that of the world', async () => {
    const { world, clock } = createProcess()
    await world.advance(0.123_456_7)
    clock.setTimer(1_007 - clock.nowMs(), () => {})
    await world.runNext()
    expect(Math.floor(clock.nowMs())).toBe(1_007)
  })
})
